/** Why a pattern does not match the format that a prompt shows: the least change with which it does is the reason. */
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import type { PythonPattern } from "./pythonTexts.ts";
import { written, type ShownFormat } from "./shownFormat.ts";

export interface Mismatch {
  readonly pattern: PythonPattern;
  /** Completes "…: ". */
  readonly reason: string;
  /** Work of one line matches. */
  readonly onlyLines: boolean;
  /** That "." match newlines is all that it needs. */
  readonly needsDotall: boolean;
}

export const [shortWork, longWork] = [
  "I work it out.",
  "First I read the question.\nThen I work it out.",
] as const;

/** A number, a letter and a word stand for an answer: a pattern may take one of these alone. */
const fills = ["60", "B", "yes"];

interface Trial {
  readonly source: string;
  readonly flags: string;
  readonly how: PythonPattern["how"];
  /** What stands behind the answer. */
  readonly ending: string;
}

interface Repair {
  readonly of: (trial: Trial) => Trial;
  readonly reason: (trial: Trial) => string;
}

const endTokens = /<\\?\|[\w ]{1,30}\\?\|>|<end_of_turn>|<\/s>|<eos>/g;
const newlines = /(?:\\n|\n)[*+?]?/g;
const hasText = (how: PythonPattern["how"]): string =>
  how === "search" ? "" : ` (\`re.${how}\` begins there; \`re.search\` does not)`;

/** In the order in which they are told. */
const repairs: readonly Repair[] = [
  {
    of: (trial) => ({ ...trial, flags: `${trial.flags.replace("s", "")}s` }),
    reason: () => '"." does not match a newline (re.DOTALL)',
  },
  {
    of: (trial) => ({ ...trial, source: trial.source.replaceAll(/(?<!\\)\\boxed/g, "\\\\boxed") }),
    reason: () => '"\\b" is the edge of a word: write "\\\\boxed"',
  },
  {
    of: (trial) => ({ ...trial, flags: `${trial.flags.replace("i", "")}i` }),
    reason: () => "it asks for other capitals than the prompt shows (re.IGNORECASE)",
  },
  {
    of: (trial) => ({ ...trial, source: trial.source.replaceAll(endTokens, "") }),
    reason: ({ source }) =>
      `it asks for \`${(source.match(endTokens)?.[0] ?? "").replaceAll("\\", "")}\`, which decoded completions do not hold`,
  },
  {
    of: (trial) => ({ ...trial, ending: "\n" }),
    reason: () => "it asks for a newline after the end of the format, where completions stop",
  },
  {
    of: (trial) => ({ ...trial, source: trial.source.replaceAll(newlines, "\\s*") }),
    reason: () => "it asks for a newline where the prompt shows none",
  },
  {
    of: (trial) => ({
      ...trial,
      source: trial.source.replace(/^\^|^\\A/, "").replace(/\$$|\\Z$/, ""),
      how: "search",
    }),
    reason: ({ how }) => `it leaves no room for text around the answer${hasText(how)}`,
  },
];

/** One change before two, two before three. */
const sets: readonly (readonly Repair[])[] = [1, 2, 3].flatMap((size) => chosen(repairs, size));

function chosen(from: readonly Repair[], size: number): (readonly Repair[])[] {
  if (size === 0) return [[]];
  return from.flatMap((one, i) => chosen(from.slice(i + 1), size - 1).map((others) => [one, ...others]));
}

export interface Compared {
  readonly missed: readonly Mismatch[];
  /** Patterns that look for the format and find it. */
  readonly matched: readonly PythonPattern[];
}

/** What looks for the format; a pattern of whose tags another of the same function finds all is no mismatch. */
export function mismatches(patterns: readonly PythonPattern[], format: ShownFormat): Compared {
  const asking = patterns.filter((pattern) => markersIn(pattern, format).length > 0);
  const found = asking.map((pattern) => mismatchOf(pattern, format));
  const matched = asking.filter((_, i) => found[i] === undefined);
  const missed = found.flatMap((one) => {
    if (one === undefined) return [];
    const asked = markersIn(one.pattern, format);
    const isCovered = matched.some((pattern) => {
      const has = markersIn(pattern, format);
      return pattern.within === one.pattern.within && asked.every((marker) => has.includes(marker));
    });
    return isCovered ? [] : [one];
  });
  return { missed, matched };
}

/** Whole tags, or the words of another mark. */
function markersIn({ source }: PythonPattern, { markers }: ShownFormat): string[] {
  const plain = source.replaceAll(/\\(.)/g, "$1").toLowerCase();
  return markers.filter((marker) => plain.includes(marker.toLowerCase()));
}

function mismatchOf(pattern: PythonPattern, format: ShownFormat): Mismatch | undefined {
  const { source, flags, how } = pattern;
  const trial: Trial = { source, flags, how, ending: "" };
  const work = format.hasLines ? longWork : shortWork;
  if (matches(trial, format, work) !== false) return undefined;
  for (const set of sets) {
    let tried = trial;
    const isChange = set.every((repair) => {
      const before = tried;
      tried = repair.of(tried);
      return JSON.stringify(before) !== JSON.stringify(tried);
    });
    if (!isChange) continue;
    const isMatch = matches(tried, format, work);
    // Beyond its time, or none that JavaScript has.
    if (isMatch === undefined) return undefined;
    if (!isMatch) continue;
    const reason = set.map((one) => one.reason(trial)).join("; ");
    const onlyLines = matches(trial, format, shortWork) === true;
    return { pattern, reason, onlyLines, needsDotall: set.length === 1 && set[0] === repairs[0] };
  }
  return undefined;
}

/** undefined: not known. */
function matches(trial: Trial, format: ShownFormat, work: string): boolean | undefined {
  const pattern = compiled(trial);
  if (pattern === undefined) return undefined;
  for (const answer of fills) {
    const found = pattern.test(written(format, answer, work) + trial.ending);
    if (found !== false) return found;
  }
  return false;
}

const longest = 2_000;

/** Python's pattern in JavaScript's syntax; undefined: it has no counterpart. */
function compiled({ source, flags, how }: Trial): TextPattern | undefined {
  if (source.length > longest) return undefined;
  const [head = "", inline = ""] = /^\(\?([a-zA-Z]+)\)/.exec(source) ?? [];
  if (/[^aimsu]/.test(inline)) return undefined;
  const all = [...new Set(`${flags}${inline}`.replaceAll(/[^ims]/g, ""))].join("");
  const body = source
    .slice(head.length)
    .replaceAll(/\(\?P<(\w+)>/g, "(?<$1>")
    .replaceAll(/\(\?P=(\w+)\)/g, "\\k<$1>")
    .replaceAll(/(?<!\\)\\A/g, "(?<![^])")
    .replaceAll(/(?<!\\)\\Z/g, "(?![^])")
    .replaceAll(/(?<!\\)\$(?![^[]*\])/g, all.includes("m") ? "$" : "(?=\\n?(?![^]))");
  const begin = how === "search" ? "" : "(?<![^])";
  try {
    return new TextPattern(`${begin}(?:${body})${how === "fullmatch" ? "(?![^])" : ""}`, all);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
