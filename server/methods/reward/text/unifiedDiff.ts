/** Unified diffs, as Python's `difflib.unified_diff` writes them without the two lines of names. */
import { matchingBlocks } from "./matching.ts";

type Tag = "equal" | "change";
interface Code {
  readonly tag: Tag;
  readonly a: readonly [number, number];
  readonly b: readonly [number, number];
}

function codesOf(a: readonly string[], b: readonly string[]): Code[] {
  const codes: Code[] = [];
  let [i, j] = [0, 0];
  for (const block of [...matchingBlocks(a, b, true), { a: a.length, b: b.length, size: 0 }]) {
    if (i < block.a || j < block.b) codes.push({ tag: "change", a: [i, block.a], b: [j, block.b] });
    [i, j] = [block.a + block.size, block.b + block.size];
    if (block.size > 0) codes.push({ tag: "equal", a: [block.a, i], b: [block.b, j] });
  }
  return codes;
}

/** Changes with up to `around` equal lines on both sides, those that would overlap in one hunk. */
function hunksOf(all: readonly Code[], around: number): Code[][] {
  const codes = [...all];
  const [first, last] = [codes[0], codes.at(-1)];
  if (first?.tag === "equal") codes[0] = tail(first, around);
  if (last?.tag === "equal") codes[codes.length - 1] = head(codes.at(-1)!, around);
  const hunks: Code[][] = [];
  let hunk: Code[] = [];
  for (const code of codes) {
    if (code.tag === "equal" && code.a[1] - code.a[0] > 2 * around) {
      hunks.push([...hunk, head(code, around)]);
      hunk = [tail(code, around)];
    } else hunk.push(code);
  }
  return [...hunks, hunk].filter((own) => own.some(({ tag }) => tag === "change"));
}

const head = ({ tag, a, b }: Code, size: number): Code => ({
  tag,
  a: [a[0], Math.min(a[1], a[0] + size)],
  b: [b[0], Math.min(b[1], b[0] + size)],
});
const tail = ({ tag, a, b }: Code, size: number): Code => ({
  tag,
  a: [Math.max(a[0], a[1] - size), a[1]],
  b: [Math.max(b[0], b[1] - size), b[1]],
});

function rangeOf(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}

const marked = (mark: string, lines: readonly string[], [from, to]: readonly [number, number]): string[] =>
  lines.slice(from, to).map((line) => mark + line);

/** Where Python's `splitlines` ends a line. */
const lineEnds = ["\r\n", "\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"];
const lineEnd = new RegExp(lineEnds.join("|"));

/** As Python's `splitlines` cuts at line ends; a text that ends with one has no empty last line. */
function linesOf(text: string): string[] {
  const lines = text.split(lineEnd);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Empty where nothing differs. */
export function unifiedDiff(before: string, after: string, around = 3): string {
  const [a, b] = [linesOf(before), linesOf(after)];
  return hunksOf(codesOf(a, b), around)
    .flatMap((hunk) => {
      const [first, last] = [hunk[0]!, hunk.at(-1)!];
      const header = `@@ -${rangeOf(first.a[0], last.a[1])} +${rangeOf(first.b[0], last.b[1])} @@`;
      return [
        header,
        ...hunk.flatMap(({ tag, a: inA, b: inB }) =>
          tag === "equal" ? marked(" ", a, inA) : [...marked("-", a, inA), ...marked("+", b, inB)],
        ),
      ];
    })
    .join("\n");
}
