/** Honest programs: what solves a task, what nearly solves it, and its test, made from numbers that are drawn. */
import type { SandboxLanguage } from "../../../../../server/lib/sandbox/sandbox.ts";

export interface Draws {
  /** A whole number from `low` to `high`. */
  int(low: number, high: number): number;
  of<Item>(items: readonly Item[]): Item;
  list(length: number, low: number, high: number): number[];
  word(): string;
}

export interface Family {
  readonly language: SandboxLanguage;
  readonly make: (draws: Draws) => {
    readonly right: string;
    /** Its test fails. */
    readonly wrong: string;
    readonly test: string;
    readonly setup?: string;
  };
}

export const python = (make: Family["make"]): Family => ({ language: "python", make });
export const javaScript = (make: Family["make"]): Family => ({ language: "javascript", make });

/** As Python writes it. */
export const repr = (value: unknown): string => {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, one]) => `${JSON.stringify(key)}: ${repr(one)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
};

/** A linear congruence: the same draws of a seed everywhere. */
export function drawsOf(seed: number): Draws {
  let state = (Math.imul(seed, 2654435761) + 1) >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const of = <Item>(items: readonly Item[]): Item => items[int(0, items.length - 1)]!;
  const letters = [..."abcdefgzéß漢😀 '\"\\\n"];
  return {
    int,
    of,
    list: (length, low, high) => Array.from({ length }, () => int(low, high)),
    word: () => Array.from({ length: int(1, 8) }, () => of(letters)).join(""),
  };
}
