import type { Diagnostic } from "../config/diagnostic.ts";
import { loadConfig } from "../config/index.ts";
import type { RunConfig } from "../config/resolved.ts";
import { complain, exit } from "./command.ts";

const shown = ({ file, range, severity, message, rule }: Diagnostic): string => `${file}:${range.start.line + 1}:${range.start.character + 1}: ${severity}: ${message} [${rule}]`;

/** The config of a file; with errors, they are told on stderr, the exit code is set, and there is none. */
export function loadOrComplain(file: string, set: readonly string[]): RunConfig | undefined {
  const { config, diagnostics } = loadConfig(file, { set });
  for (const diagnostic of diagnostics) if (diagnostic.severity !== "info") complain(shown(diagnostic));
  if (config === undefined) process.exitCode = exit.failed;
  return config;
}

/** For `--set`, which may be given more than once. */
export const collected = (value: string, known: readonly string[]): string[] => [...known, value];
