import { resolve } from "node:path";
import { plural } from "../../shared/lib/format.ts";
import type { LoadOptions } from "../rules/load.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { loadTried, type TriedFile } from "../frameworks/asConfig/builtRows.ts";
import { loadFile, type LoadedFile } from "../frameworks/asConfig/load.ts";
import { engineKeys } from "../frameworks/export/engineKeys.ts";
import type { Converted } from "../frameworks/convert/index.ts";
import { complain, exit } from "./command.ts";
import { complainAbout, formatted, pathText } from "./text/diagnostics.ts";

/**
 * The config of a file, of another trainer's as well, for uses that open no models. With errors, they are printed on
 * stderr, the exit code is set, and there is none. `recorded`: see LoadOptions.
 * @param draws tasks are drawn of it, so their data must be there
 */
export function loadOrComplain(
  file: string,
  set: readonly string[],
  recorded = false,
  draws = false,
): RunConfig | undefined {
  return loadedOrComplain(file, { set, recorded, engineKeys }, draws)?.config;
}

/** As `loadOrComplain`, with what the file was converted to. */
export function loadedOrComplain(
  file: string,
  options: LoadOptions,
  draws: boolean,
): { readonly config: RunConfig; readonly converted: Converted | undefined } | undefined {
  return sayLoaded(file, loadFile(file, options, { absent: draws ? ["model"] : ["data", "model"] }));
}

/** As `loadedOrComplain`, of what its reward is tried on: a script makes its rows. */
export async function triedOrComplain(
  file: string,
  options: LoadOptions,
): Promise<(Omit<TriedFile, "loaded"> & { readonly config: RunConfig }) | undefined> {
  const { loaded, ...tried } = await loadTried(file, options, { absent: ["model"] });
  const said = sayLoaded(file, loaded);
  return said && { ...tried, config: said.config };
}

function sayLoaded(file: string, { config, diagnostics, converted }: LoadedFile) {
  sayConverted(file, converted);
  complainAbout(diagnostics, config === undefined ? "info" : "error");
  if (config === undefined) process.exitCode = exit.failed;
  else if (converted !== undefined)
    for (const missing of diagnostics.filter(({ rule }) => rule === "dataset-file"))
      complain(formatted(missing));
  return config === undefined ? undefined : { config, converted };
}

/** What a converted file loses in a line, and what something else stands in for. */
export function sayConverted(file: string, converted: Converted | undefined): void {
  if (converted === undefined || converted.unmapped.length === 0) return;
  const { unmapped } = converted;
  const name = pathText(resolve(file));
  for (const { key, reason } of unmapped)
    if (/placeholder|left out/.test(reason)) complain(`${name}: ${key}: ${reason}`);
  const lost = `${plural(unmapped.length, "setting")} ${unmapped.length === 1 ? "has" : "have"}`;
  complain(`${name}: ${lost} no counterpart in Gradus: \`gradus convert ${name}\` lists them`);
}
