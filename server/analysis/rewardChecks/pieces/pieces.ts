/** What an attack writes its answers from: common forms, numbers of the prompt, and the texts that the reward's own source mentions. */
import type { StageBody } from "../../../core/config/resolved.ts";
import type { Task } from "../../../core/task.ts";
import { goldForms } from "../forms/goldForms.ts";
import { ownFile, sourceOf } from "../ownFiles.ts";

/** A part of an answer. It may read the prompt, and never the reference answer. */
export interface Piece {
  readonly name: string;
  readonly of: (task: Task) => string;
}

const literal = (text: string): Piece => ({ name: JSON.stringify(text), of: () => text });

export const numbersOf = (prompt: string): readonly string[] => prompt.match(/-?\d+(?:\.\d+)?/g) ?? [];

const common: readonly Piece[] = [
  ...[
    "#### ",
    "\\boxed{",
    "}",
    "<answer>",
    "</answer>",
    "<think>",
    "</think>",
    "The answer is ",
    "Final answer: ",
  ],
  ...[
    "\n",
    " ",
    ".",
    "0",
    "1",
    "2",
    "-1",
    "999999999999",
    "Infinity",
    "NaN",
    "None",
    "True",
    "[]",
    "A",
    "B",
    "yes",
    "no",
  ],
  ...["correct", "Score: 1", "```python\n", "\n```", "Let me think about this step by step. "],
].map(literal);

const reading: readonly Piece[] = [
  { name: "the prompt", of: ({ prompt }) => prompt },
  { name: "the prompt's first number", of: ({ prompt }) => numbersOf(prompt)[0] ?? "" },
  { name: "the prompt's last number", of: ({ prompt }) => numbersOf(prompt).at(-1) ?? "" },
  { name: "a long text", of: () => "Let me think about this step by step. ".repeat(60) },
];

const eachMark = "\u0001";
const noTask: Task = { id: "", source: "", env: "", prompt: "", data: {} };

/** Stands for a number: the answer is written once for each number to 300. */
const eachNumber: Piece = { name: "each number", of: () => eachMark };

/** A number in each form that rewards ask for: an answer that holds every number is seldom found piece by piece. */
const eachForm: readonly Piece[] = [
  ...new Set(goldForms.flatMap((form) => form.with(noTask, eachMark) ?? [])),
]
  .filter((text) => text !== eachMark)
  .map((text) => ({
    name: `each number as ${JSON.stringify(text.replaceAll(eachMark, "…"))}`,
    of: () => text,
  }));

/** The answer that pieces make to a task. */
export function written(pieces: readonly Piece[], task: Task): string {
  const text = pieces.map((piece) => piece.of(task)).join("");
  if (!text.includes(eachMark)) return text;
  return Array.from({ length: 301 }, (_, number) => text.replaceAll(eachMark, String(number))).join(" ");
}

/** Of one reward's source. */
const mostTexts = 60;
const longest = 60;

/** Quoted texts, and what a regular expression asks for word by word. */
export function textsIn(source: string): string[] {
  const quoted = [...source.matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].map(([, , text]) =>
    unescaped(text ?? ""),
  );
  const patterns = [...source.matchAll(/\/((?:\\.|\[[^\]\n]*\]|[^/\\\n[])+)\/[a-z]*/g)].map(
    ([, text]) => text ?? "",
  );
  const wordFor = [...patterns, ...quoted].flatMap((pattern) =>
    pattern
      .replaceAll(/\[[^\]]*\]|\\[dDwWsSbB]|\(\?[:=!<]+/g, "\n")
      .replaceAll(/\\(.)/g, "$1")
      .split(/[\n()|*+?^$]+|\{\d+,?\d*\}/),
  );
  const found = [...quoted, ...wordFor].filter(
    (text) => text.trim().length > 0 && text.length <= longest && !/^\.{0,2}\//.test(text),
  );
  return [...new Set(found)].slice(0, mostTexts);
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\([nt\\'"`])/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? letter);

/** Pieces for a config's reward. Its own files are read, never run. */
export function piecesFor({ reward }: StageBody): Piece[] {
  const own = reward.terms.flatMap((config) => {
    const { pattern, tags } = config.term.params;
    const file = ownFile(config);
    const texts = typeof pattern === "string" ? textsIn(`"${pattern}"`) : [];
    const named = Array.isArray(tags) ? tags.flatMap((tag) => [`<${String(tag)}>`, `</${String(tag)}>`]) : [];
    const source = file === undefined ? undefined : sourceOf(file);
    return [...texts, ...named, ...(source === undefined ? [] : textsIn(source))];
  });
  const all = [...common, ...reading, eachNumber, ...eachForm, ...own.map(literal)];
  return [...new Map(all.map((piece) => [piece.name, piece])).values()];
}
