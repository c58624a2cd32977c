/** A command that ends before its settings do: a backslash is missing, or something follows it. */
import type { TextEdit } from "../../config/check/diagnostic.ts";
import type { CutLaunch } from "../text/document.ts";
import type { LaunchWord } from "../text/shell/launchWord.ts";
import type { ScriptLaunch } from "../text/shell/script.ts";
import { Lines } from "./lines.ts";

/** A command whose first word is a setting is the rest of another command. */
export const loose = /^(--[A-Za-z]|[+~]{0,2}[A-Za-z_]\w*\.[\w.@/-]*=)/;

const isLoose = ({ words: [first] }: ScriptLaunch): boolean => first !== undefined && loose.test(first.text);

/** @param from the line of the program; the result is undefined if nothing was cut off */
export function cutLaunch(
  text: string,
  launches: readonly ScriptLaunch[],
  from: number,
): CutLaunch | undefined {
  const at = launches.findIndex((launch) => launch.line > from && isLoose(launch));
  const [before, first] = [launches[at - 1], launches[at]];
  if (before === undefined || first === undefined || before.line > first.line) return undefined;
  const after = launches.slice(at);
  const end = after.findIndex((launch) => !isLoose(launch));
  const lost = after
    .slice(0, end < 0 ? undefined : end)
    .flatMap(({ words }) => words.filter(({ text }) => loose.test(text)));
  const cut = causeOf(text.split(/\r?\n/), first.line);
  if (cut === undefined || cut.range.start.line < from) return undefined;
  const [name] = /^[^=\s]+/.exec(first.words[0]!.text) ?? [""];
  return { ...cut, lost: lost.length, first: name, place: new Lines(text).range(first.words[0]!.span) };
}

/** A carriage return after the backslash: for bash the command ends there, although all else reads the file as it is meant. */
export function cutByReturn(text: string, words: readonly LaunchWord[]): CutLaunch | undefined {
  for (const [at, { span }] of words.entries()) {
    const end = words[at - 1]?.span.end ?? span.start;
    const gap = /\\\r\n/.exec(text.slice(end, span.start));
    if (gap === null) continue;
    const [from, lines] = [end + gap.index, new Lines(text)];
    const settings = words.slice(at).filter((word) => loose.test(word.text));
    const [first = words[at]!] = settings;
    const [name] = /^[^=\s]+/.exec(first.text) ?? [""];
    const [range, place] = [lines.range({ start: from, end: from + 1 }), lines.range(first.span)];
    return { cause: "return", range, lost: settings.length, first: name, place };
  }
  return undefined;
}

type Cause = Pick<CutLaunch, "cause" | "range" | "edit">;

/** What is above the first lost line. */
function causeOf(lines: readonly string[], lost: number): Cause | undefined {
  let above = lost - 1;
  while (above >= 0 && /^\s*(#.*)?$/.test(lines[above] ?? "")) above--;
  const line = lines[above] ?? "";
  if (above < 0) return undefined;
  const blank = /\\(\s+(#.*)?)$/.exec(line);
  if (blank !== null) return spoilt(above, blank.index, line.length);
  if (line.endsWith("\\")) return above + 1 < lost ? between(lines, above, lost) : undefined;
  const code = line.trimEnd().length;
  return {
    cause: "missing",
    range: span(above, Math.max(code - 1, 0), code),
    edit: { range: span(above, code, line.length), newText: " \\" },
  };
}

/** `\ ` and `\  # why`: the backslash keeps the blank, and the line ends. */
const spoilt = (line: number, from: number, to: number): Cause => ({
  cause: "blank",
  range: span(line, from, to),
  edit: { range: span(line, from, to), newText: "\\" },
});

/** Comments and empty lines among continued ones. */
function between(lines: readonly string[], above: number, lost: number): Cause {
  const line = lines[above + 1] ?? "";
  const start = line.length - line.trimStart().length;
  const edit: TextEdit = {
    range: { start: { line: above + 1, character: 0 }, end: { line: lost, character: 0 } },
    newText: "",
  };
  return { cause: "comment", range: span(above + 1, start, Math.max(line.trimEnd().length, start)), edit };
}

const span = (line: number, from: number, to: number): TextEdit["range"] => ({
  start: { line, character: from },
  end: { line, character: to },
});
