/** What is being typed at the cursor, found from the lines around it, because the text is rarely complete there. */
import type { Position, Range } from "../../../lib/lines.ts";
import type { FrameworkDocument, Sign } from "../../text/document.ts";
import { trainers } from "../../releases/programs/trl.ts";

type KeyStyle = "yaml" | "hydra" | "flag" | "python";
export type CursorSite = CursorPlace & {
  /** The tree of the trainer's call in a Python file, which may have several. */
  readonly tree?: string | undefined;
};
type CursorPlace =
  | {
      readonly kind: "key";
      readonly style: KeyStyle;
      /** The section of the key, with a dot at its end; empty at the top. */
      readonly section: string;
      /** The key under the cursor, which may be offered again. */
      readonly current: string;
      readonly sign: Sign;
      readonly depth: "one" | "all";
      readonly range: Range;
    }
  | { readonly kind: "value"; readonly style: KeyStyle; readonly key: string; readonly range: Range };

/** Lines above and below a launch's settings that may get another one. */
const reach = 3;

export function siteAt(document: FrameworkDocument, position: Position): CursorSite | undefined {
  const lines = document.text.split(/\r?\n/);
  switch (document.form) {
    case "yaml":
      return inYaml(document, lines, position);
    case "python":
      return inPython(lines, position);
    case "script":
      return isNearSettings(document, position) ? inScript(document, lines, position) : undefined;
  }
}

function isNearSettings({ settings, head }: FrameworkDocument, { line }: Position): boolean {
  const rows = [head.start.line, ...settings.map(({ keyRange }) => keyRange.start.line)];
  return line >= Math.min(...rows) - reach && line <= Math.max(...rows) + reach;
}

/** From letter `start` of the cursor's line to the cursor, with the rest of the word after it. */
function rangeFrom(line: string, { line: row, character }: Position, start: number): Range {
  const rest = /^[\w.-]*/.exec(line.slice(character))?.[0].length ?? 0;
  return { start: { line: row, character: start }, end: { line: row, character: character + rest } };
}

function inYaml(
  { framework }: FrameworkDocument,
  lines: readonly string[],
  position: Position,
): CursorSite | undefined {
  const line = lines[position.line] ?? "";
  const before = line.slice(0, position.character);
  if (/(^|\s)#/.test(before)) return undefined;
  const section = framework === "verl" ? sectionAbove(lines, position.line, before.search(/\S|$/)) : "";
  const value = /^\s*([\w.-]+):\s+["']?([\w.+-]*)$/.exec(before);
  if (value !== null)
    return {
      kind: "value",
      style: "yaml",
      key: `${section}${value[1]!}`,
      range: rangeFrom(line, position, before.length - value[2]!.length),
    };
  const key = /^(\s*)([\w.]*)$/.exec(before);
  if (key === null) return undefined;
  const range = rangeFrom(line, position, key[1]!.length);
  const current = `${section}${line.slice(range.start.character, range.end.character)}`;
  return { kind: "key", style: "yaml", section, current, sign: "", depth: "one", range };
}

/** The keys that hold a line of this indentation, outermost first. */
function sectionAbove(lines: readonly string[], row: number, indent: number): string {
  const keys: string[] = [];
  let least = indent;
  for (let i = row - 1; i >= 0 && least > 0; i--) {
    const match = /^(\s*)([\w-]+):\s*(#.*|&\w+\s*)?$/.exec(lines[i]!);
    if (match === null || match[1]!.length >= least) continue;
    keys.unshift(match[2]!);
    least = match[1]!.length;
  }
  return keys.map((key) => `${key}.`).join("");
}

function inScript(
  { framework }: FrameworkDocument,
  lines: readonly string[],
  position: Position,
): CursorSite | undefined {
  const line = lines[position.line] ?? "";
  const before = line.slice(0, position.character);
  if (/^\s*#/.test(before)) return undefined;
  const word = /[^\s"'()]*$/.exec(before)?.[0] ?? "";
  return framework === "verl" ? override(line, word, position) : flag(line, before, word, position);
}

function override(line: string, word: string, position: Position): CursorSite | undefined {
  const value = /^[+]{0,2}([\w.]+)=["']?([\w.+-]*)$/.exec(word);
  if (value !== null)
    return {
      kind: "value",
      style: "hydra",
      key: value[1]!,
      range: rangeFrom(line, position, position.character - value[2]!.length),
    };
  const key = /^([+]{0,2}|~)([\w.]*)$/.exec(word);
  if (key === null) return undefined;
  const [, sign = "", typed = ""] = key;
  const range = rangeFrom(line, position, position.character - typed.length);
  return {
    kind: "key",
    style: "hydra",
    section: typed.slice(0, typed.lastIndexOf(".") + 1),
    current: line.slice(range.start.character, range.end.character),
    sign: sign === "+" || sign === "++" || sign === "~" ? sign : "",
    depth: "all",
    range,
  };
}

function flag(line: string, before: string, word: string, position: Position): CursorSite | undefined {
  if (/^-{1,2}[\w.]*$/.test(word)) {
    const range = rangeFrom(line, position, position.character - word.length);
    const current = line.slice(range.start.character + 2, range.end.character);
    return { kind: "key", style: "flag", section: "", current, sign: "", depth: "all", range };
  }
  const named = /--([\w.]+)[ =]["']?([\w.+-]*)$/.exec(before);
  if (named === null) return undefined;
  const range = rangeFrom(line, position, position.character - named[2]!.length);
  return { kind: "value", style: "flag", key: named[1]!, range };
}

/** The beginning of a call that makes a trainer's arguments. */
const configCall = new RegExp(`\\b(?:${trainers.map(({ config }) => config).join("|")})\\(`, "g");

function inPython(lines: readonly string[], position: Position): CursorSite | undefined {
  const line = lines[position.line] ?? "";
  const before = line.slice(0, position.character);
  const text = [...lines.slice(0, position.line), before].join("\n");
  const call = [...text.matchAll(configCall)].at(-1);
  if (call === undefined) return undefined;
  const inside = text.slice(call.index + call[0].length);
  const tree = trainers.find(({ config }) => call[0].startsWith(config))?.name;
  if (depthOf(inside) !== 0 || /#[^\n]*$/.test(inside)) return undefined;
  const value = /(?:^|[\s,(])(\w+)\s*=\s*(["']?[\w.+-]*)$/.exec(inside);
  if (value !== null)
    return {
      kind: "value",
      style: "python",
      tree,
      key: value[1]!,
      range: rangeFrom(line, position, position.character - value[2]!.length),
    };
  const key = /(?:^|,)\s*(?:#[^\n]*\n\s*)*(\w*)$/.exec(inside);
  if (key === null) return undefined;
  const range = rangeFrom(line, position, position.character - key[1]!.length);
  const current = line.slice(range.start.character, range.end.character);
  return { kind: "key", style: "python", tree, section: "", current, sign: "", depth: "all", range };
}

/** The number of open brackets; −1 if the call is closed. */
function depthOf(text: string): number {
  let depth = 0;
  for (const letter of text.replace(/(["'])(?:\\.|(?!\1)[^\\\n])*\1/g, "")) {
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter) && --depth < 0) return -1;
  }
  return depth;
}
