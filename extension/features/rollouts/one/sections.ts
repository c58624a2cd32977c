/** Parts of a response that are tagged or fenced: thoughts, calls of tools and their results, code. Pure. */

export interface Section {
  /** Lines of the text, from 0. */
  readonly from: number;
  readonly to: number;
  /** The tag, or `code`. */
  readonly kind: string;
  /** What it is about, on one line. */
  readonly title: string;
}

const tag = /^\s*<([A-Za-z][\w-]*)[^<>]*>/;
const fence = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/;
/** Of a call: the name of the tool. */
const called = /"(?:name|tool|function)"\s*:\s*"([^"]+)"/;
const longestTitle = 60;

/**
 * Sections of more than one line; one that does not end is none.
 * @param lines of the text, with what an editor shows at their ends
 */
export function sectionsOf(lines: readonly string[]): Section[] {
  const found: Section[] = [];
  const open: { readonly kind: string; readonly from: number; readonly end: RegExp }[] = [];
  lines.forEach((line, at) => {
    const last = open.findLastIndex(({ end }) => end.test(line));
    if (last >= 0 && open[last]!.from < at) {
      const { kind, from } = open[last]!;
      found.push({ from, to: at, kind, title: titleOf(lines.slice(from, at + 1), kind) });
      open.length = last;
      return;
    }
    const opened = openedBy(line);
    if (opened !== undefined && !opened.end.test(line.replace(/^\s*\S+/, "")))
      open.push({ ...opened, from: at });
  });
  return found.sort((a, b) => a.from - b.from || b.to - a.to);
}

function openedBy(line: string): { readonly kind: string; readonly end: RegExp } | undefined {
  const name = tag.exec(line)?.[1];
  if (name !== undefined) return { kind: name, end: new RegExp(`</${name}>`) };
  const [, marks, language = ""] = fence.exec(line) ?? [];
  if (marks === undefined) return undefined;
  return { kind: language === "" ? "code" : language, end: new RegExp(`^\\s*${marks}\\s*[⏎↩]?$`) };
}

function titleOf(lines: readonly string[], kind: string): string {
  const text = lines.join("\n");
  const tool = kind.includes("call") ? called.exec(text)?.[1] : undefined;
  if (tool !== undefined) return tool;
  const said = lines
    .map((line) => line.replace(/<[^<>]*>|[⏎↩]/g, "").trim())
    .find((line, at) => line !== "" && !(at === 0 && fence.test(line)));
  return (said ?? "").slice(0, longestTitle);
}
