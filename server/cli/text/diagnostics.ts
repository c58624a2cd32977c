/** How commands show diagnostics. */
import { InvalidArgumentError } from "commander";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { complain } from "../command.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** As short as it goes from here. */
export const pathText = (file: string): string => {
  const short = relativePath(process.cwd(), file);
  return short === "" || short.startsWith("..") ? file : short;
};

/** `file:line:column`, or `notebook.ipynb cell 4:2`, counted from 1. */
export const placeText = (
  file: string,
  { line, character = 0 }: { readonly line: number; readonly character?: number },
  cell?: number,
): string =>
  cell === undefined ? `${file}:${line + 1}:${character + 1}` : `${file} cell ${cell}:${line + 1}`;

/** What is said of a file that no command reads as a config: "it is …". */
export const noConfig = "neither a Gradus config nor a file that starts verl, TRL or OpenRLHF";

/** `file:line:column: severity: message [rule]`; an option's text where no file wrote the value. */
export const formatted = (diagnostic: Diagnostic, file = pathText(diagnostic.file)): string => {
  const { severity, rule, option, range, cell } = diagnostic;
  const [place, message] =
    option === undefined
      ? [placeText(file, range.start, cell), diagnostic.message]
      : [option.text, option.message];
  return visibleText(`${place}: ${severity}: ${message} [${rule}]`);
};

/** Prints diagnostics on stderr; true when one is an error. */
export function complainAbout(diagnostics: readonly Diagnostic[], least: "error" | "info" = "info"): boolean {
  for (const diagnostic of diagnostics)
    if (least === "info" || diagnostic.severity === "error") complain(formatted(diagnostic));
  return diagnostics.some(({ severity }) => severity === "error");
}

/** For options with a name and a value, which may be given many times. @param wanted how it is written */
export const collectPairs =
  (wanted: string) =>
  (value: string, earlier: readonly string[]): string[] => {
    if (value.indexOf("=") < 1) throw new InvalidArgumentError(`Write ${wanted}.`);
    return [...earlier, value];
  };

/** For `--set`. */
export const collect = collectPairs("path=value, e.g. rollout.group=16");
