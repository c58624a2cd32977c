import { resolve } from "node:path";
import { copiedWord } from "../../shared/lib/copiedWord.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { grammar } from "../config/grammar/grammar.ts";
import { isConfigName, looksOwn } from "../config/configKind.ts";
import { readText, statsOf } from "../lib/inputFile.ts";
import { longestSource } from "../lib/notebook/notebook.ts";
import { trainerOfLog } from "../store/imported/feeds/console/logFeed.ts";
import { plural } from "../../shared/lib/format.ts";
import type { LoadOptions } from "../rules/load.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { loadTried, type TriedFile } from "../frameworks/use/asConfig/builtRows.ts";
import { loadFile, type LoadedFile } from "../frameworks/use/asConfig/load.ts";
import { engineKeys } from "../frameworks/lens/engineKeys.ts";
import type { Converted } from "../frameworks/trainers/convert.ts";
import { complain, exit } from "./command.ts";
import { complainAbout, noConfig, pathText } from "./text/diagnostics.ts";

/**
 * The config of a file, of another trainer's as well, for uses that open no models. With errors in what the use reads, they
 * are printed on stderr, the exit code is set, and there is none.
 * @param forConverted what counts for a file of another trainer alone
 */
export const loadOrComplain = (
  file: string,
  options: Omit<LoadOptions, "engineKeys">,
  forConverted: Pick<LoadOptions, "needs"> = {},
): RunConfig | undefined => loadedOrComplain(file, options, forConverted)?.config;

/** As `loadOrComplain`, with what the file was converted to. */
export function loadedOrComplain(
  file: string,
  options: Omit<LoadOptions, "engineKeys">,
  forConverted: Pick<LoadOptions, "needs"> = {},
): Said | undefined {
  return sayLoaded(file, loadFile(file, { ...options, engineKeys }, forConverted));
}

interface Said extends Pick<LoadedFile, "diagnostics"> {
  readonly config: RunConfig;
  readonly converted: Converted | undefined;
}

/** As `loadedOrComplain`, of what its reward is tried on: a script makes its rows. */
export async function triedOrComplain(
  file: string,
  options: Omit<LoadOptions, "engineKeys">,
): Promise<(Omit<TriedFile, "loaded"> & Said) | undefined> {
  const { loaded, ...tried } = await loadTried(file, { ...options, engineKeys });
  const said = sayLoaded(file, loaded);
  return said && { ...tried, ...said };
}

/** A log, or the text of another program: what YAML makes of it would be a page. @throws UserError */
export function refuseNoConfig(file: string, { diagnostics }: Pick<LoadedFile, "diagnostics">): void {
  const path = resolve(file);
  if (
    isConfigName(file) ||
    !diagnostics.some(({ rule, severity }) => rule === "syntax" && severity === "error")
  )
    return;
  if (
    statsOf(path)?.isFile() !== true ||
    looksOwn(readText(path, longestSource(path)), Object.keys(grammar.fields))
  )
    return;
  const shown = pathText(path);
  throw new UserError(`this is ${noConfig}`, {
    file: shown,
    code: "no-config",
    action:
      trainerOfLog(path, mostLooked) === undefined
        ? "Name a config, or a training script."
        : `It is the log of a training: \`gradus check ${copiedWord(shown)}\` judges it, and \`gradus runs import ${copiedWord(shown)}\` opens it.`,
  });
}

/** Bytes of a file until whose log it is. */
const mostLooked = 1 << 20;

function sayLoaded(file: string, { config, diagnostics, converted }: LoadedFile): Said | undefined {
  if (config === undefined) refuseNoConfig(file, { diagnostics });
  sayConverted(file, converted);
  complainAbout(diagnostics, config === undefined ? "info" : "error");
  if (config === undefined) process.exitCode = exit.failed;
  return config === undefined ? undefined : { config, converted, diagnostics };
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
