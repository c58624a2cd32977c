/** Edits that a response makes to files, as the diff of each file that it touches. */
import { unifiedDiff } from "./unifiedDiff.ts";

/** By path: a file's text, or its diff. */
export type Files = ReadonlyMap<string, string>;

interface Block {
  readonly path: string;
  readonly search: string;
  readonly replace: string;
}

const [begin, middle, end] = ["\n<<<<<<< SEARCH\n", "\n=======\n", "\n>>>>>>> REPLACE\n```"];

/** The line that ends at a place. */
const lineBefore = (text: string, to: number): string => text.slice(text.lastIndexOf("\n", to - 1) + 1, to);

/** The search/replace blocks: a fence, `### PATH` and the two texts between their marks. Each mark is looked for once. */
function blocksIn(text: string): Block[] {
  const found: Block[] = [];
  let from = 0;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, Math.max(at + 1, from))) {
    const title = lineBefore(text, at);
    const fenceEnd = at - title.length - 1;
    if (fenceEnd < from || !title.startsWith("### ")) continue;
    const fence = text.slice(Math.max(from, text.lastIndexOf("\n", fenceEnd - 1) + 1), fenceEnd);
    if (!fence.includes("```")) continue;
    const searched = at + begin.length;
    const half = text.indexOf(middle, searched);
    const close = half < 0 ? -1 : text.indexOf(end, half + middle.length);
    // What follows has no end either.
    if (close < 0) return found;
    const replace = text.slice(half + middle.length, close);
    found.push({ path: title.slice(4), search: text.slice(searched, half), replace });
    from = close + end.length;
  }
  return found;
}

/** Texts of the files after the search/replace blocks of a response; a text: why they cannot be made. */
export function edited(response: string, files: Files): Files | string {
  const after = new Map<string, string>();
  for (const { path, search, replace } of blocksIn(response)) {
    if (search === replace) return `a block of ${path} replaces a text by itself`;
    // Line by line: a block matches from the beginning of a line.
    const text = after.get(path) ?? `\n${files.get(path) ?? ""}`;
    if (!text.includes(`\n${search}`)) return `a block searches ${path} for what is not in it`;
    after.set(
      path,
      text.replaceAll(`\n${search}`, () => `\n${replace}`),
    );
  }
  if (after.size === 0) return "there is no search/replace block";
  return new Map([...after].map(([path, text]) => [path, text.slice(1)]));
}

/** The diff of each file that differs. */
export function diffsOf(before: Files, after: Files): Files {
  const diffs = [...after].map(([path, text]) => [path, unifiedDiff(before.get(path) ?? "", text)] as const);
  return new Map(diffs.filter(([, diff]) => diff !== ""));
}

const named = (line: string): string => line.slice(4).split("\t")[0]!.trim();
const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

interface Hunk {
  readonly lines: readonly string[];
  /** The line after it. */
  readonly end: number;
}

/** A hunk as its header counts it; undefined: its lines are others. */
function hunkAt(lines: readonly string[], start: number): Hunk | undefined {
  const [, from, size = "1", to, newSize = "1", section] = hunkHeader.exec(lines[start]!) ?? [];
  if (from === undefined) return undefined;
  let [old, added] = [Number(size), Number(newSize)];
  const own = [`@@ -${from},${size} +${to!},${newSize} @@${section!}`];
  let at = start + 1;
  while (old > 0 || added > 0) {
    const line = lines[at];
    const mark = line === "" ? " " : line?.[0];
    if (mark !== " " && mark !== "-" && mark !== "+" && mark !== "\\") return undefined;
    if (mark === " " || mark === "-") old -= 1;
    if (mark === " " || mark === "+") added -= 1;
    if (old < 0 || added < 0) return undefined;
    own.push(line === "" ? " " : line!);
    at += 1;
  }
  return { lines: own, end: at };
}

/** The hunks of each file of a unified diff; a text: why it is none. */
export function diffsIn(text: string): Files | string {
  const lines = text.split("\n");
  const diffs = new Map<string, string>();
  let path: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ") === true) {
      const [before, after] = [named(line), named(lines[at + 1]!)];
      path = (after === "/dev/null" ? before : after).replace(/^[ab]\//, "");
      at += 1;
      continue;
    }
    if (!line.startsWith("@@")) continue;
    const hunk = hunkAt(lines, at);
    if (hunk === undefined || path === undefined) return `the hunk in line ${at + 1} is not whole`;
    const earlier = diffs.get(path);
    const own = hunk.lines.join("\n").trim();
    diffs.set(path, earlier === undefined ? own : `${earlier}\n${own}`);
    at = hunk.end - 1;
  }
  return diffs.size === 0 ? "there is no diff" : diffs;
}
