/**
 * What a use of a config reads of it. What is wrong with the rest is a warning there: a question asks for no more than it
 * needs. `validate` and a run read everything.
 */
import { grammar } from "./grammar/grammar.ts";
import type { Diagnostic } from "./check/diagnostic.ts";

/** A part of a config, or files that it names. */
export type Part =
  | "tasks"
  /** That there are tasks to draw. */
  | "draws"
  /** Files of tasks: whether they are there, and what their rows hold. */
  | "data"
  | "reward"
  /** Files of one's own that score: a use finds out which of them it can load. */
  | "functions"
  /** Lengths and prompts of rollouts that methods are made with. */
  | "limits"
  /** From rewards to the loss. */
  | "algorithm"
  | "optimizer"
  | "rollout"
  | "curriculum"
  | "models"
  /** Whether they are there, and what they hold. */
  | "modelFiles"
  /** Stages, their steps, and the seed. */
  | "course"
  /** How a run is made, measured and kept. */
  | "run";

/** The first pattern that fits a path counts. */
const byKey: readonly (readonly [RegExp, Part])[] = [
  [/^models?$|^models?\./, "models"],
  [/^tasks\b/, "tasks"],
  [/^(?:reward|sandbox)\b/, "reward"],
  [/^update\.(?:optimizer|schedule)\b/, "optimizer"],
  [/^(?:advantage|objective|kl|route|mask|guidance|auxiliary|replay|update)\b/, "algorithm"],
  [/^rollout\.(?:max_tokens|group|chat|system)\b/, "limits"],
  [/^rollout\b/, "rollout"],
  [/^curriculum\b/, "curriculum"],
  [/^(?:steps|seed|stages)\b/, "course"],
  [/^(?:evaluation|checkpoint|engine|sweep|name|scheduler|logging)\b/, "run"],
];

/** Rules that look at more than a config's own text, or at what a use may do without. */
const byRule: Readonly<Record<string, (key: string) => Part | undefined>> = {
  "dataset-file": () => "data",
  "dataset-field": () => "data",
  "python-reward": () => "functions",
  "reward-arguments": () => "functions",
  "reward-file": () => "functions",
  "model-file": () => "modelFiles",
  "model-content": () => "modelFiles",
  "model-registry": (key) => (key.endsWith(".base") ? "modelFiles" : "models"),
  "nothing-to-do": (key) => (key === "tasks" ? "draws" : undefined),
};

/** A block of a stage is what it is at the top. */
const atTop = (key: string): string => key.replace(/^stages\.[^.]+\.(?=\w)/, "");

/** Of a value that cannot be read; undefined: it is no part's alone, as a file that is extended. */
const partOfValue = (key: string): Part | undefined =>
  byKey.find(([pattern]) => pattern.test(atTop(key)))?.[1];

/** Of what a rule says about values that can be read. */
function partOfRule(rule: string, key: string): Part | undefined {
  const part = byRule[rule]?.(key) ?? partOfValue(key);
  return part === "limits" ? "rollout" : part;
}

const scored = ["reward", "tasks", "limits", "course"] as const satisfies readonly Part[];
const all: readonly Part[] = [
  ...scored,
  ...(["draws", "data", "functions", "algorithm", "optimizer", "rollout", "curriculum"] as const),
  ...(["models", "modelFiles", "run"] as const),
];
const allBut = (...left: readonly Part[]): readonly Part[] => all.filter((part) => !left.includes(part));

/** What commands and the editor ask of a config. */
export const needs = {
  whole: all,
  /** What the reward gives rollouts that are there. */
  scored,
  /** The same by every function that it names. */
  served: [...scored, "functions"],
  /** What it gives answers to tasks, as far as their data are there. */
  tried: [...scored, "draws"],
  /** What the algorithm makes of recorded rollouts. */
  explained: [...scored, "algorithm"],
  /** All that is written, whatever of its files is here. */
  written: allBut("data", "modelFiles"),
  /** That, and its tasks are drawn. */
  drawn: allBut("modelFiles"),
} as const satisfies Readonly<Record<string, readonly Part[]>>;

/** What of a config could not be read: with the needs of a use, whether that use has to do without an answer. */
export class Unread {
  /**
   * @param keys of values that cannot be read
   * @param meant keys that misspelt ones mean
   * @param aside paths of what stands in for such values, with `meant`
   */
  constructor(
    private readonly keys: readonly string[],
    private readonly meant: readonly string[],
    private readonly aside: readonly string[],
  ) {}

  /** Whether what is wrong is in a part that is read. What is no part's alone everyone reads. */
  concerns({ rule, key }: Pick<Diagnostic, "rule" | "key">, needed: readonly Part[]): boolean {
    const [top = ""] = key.split(".");
    // A key that nothing reads matters for the one that it means, and to a run, which is made as it is written.
    if (top !== "" && !Object.hasOwn(grammar.fields, top))
      return reads(needed, "run") || this.meant.some((meant) => reads(needed, partOfValue(meant)));
    return reads(needed, this.keys.includes(key) ? partOfValue(key) : partOfRule(rule, key));
  }

  /** Whether something stands in for a value of a part that is read. */
  replaces(needed: readonly Part[]): boolean {
    return this.aside.some((path) => reads(needed, partOfValue(path)));
  }
}

const reads = (needed: readonly Part[], part: Part | undefined): boolean =>
  part === undefined || needed.includes(part);
