import { loadConfig } from "../rules/load.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { exit } from "./command.ts";
import { complainAbout } from "./text/diagnostics.ts";

/** The config of a file; with errors, they are printed on stderr, the exit code is set, and there is none. `recorded`: see LoadOptions. */
export function loadOrComplain(
  file: string,
  set: readonly string[],
  recorded = false,
): RunConfig | undefined {
  const { config, diagnostics } = loadConfig(file, { set, recorded });
  complainAbout(diagnostics, config === undefined ? "info" : "error");
  if (config === undefined) process.exitCode = exit.failed;
  return config;
}
