import type { Recognised } from "../../../methods/reward/own/python/convention.ts";

export interface Parameter {
  readonly name: string;
  readonly type?: string;
  /** As the file writes it. */
  readonly usual?: string;
  readonly says?: string;
}

/** Names that a pattern takes out of an object. */
export interface Pattern {
  readonly names: readonly string[];
  /** Of those, what has a value where none is given. */
  readonly optional: readonly string[];
  /** Takes all others as well. */
  readonly rest: boolean;
}

/** Of the one object that a script's function is called with, and of its `args` where these are taken apart too. */
export interface Taken extends Pattern {
  readonly args: Pattern | undefined;
}

/** What a reward function takes and gives, as its file's text says: nothing is executed. */
export interface Signature {
  readonly name: string;
  readonly language: "typescript" | "python";
  /** `score({ response, task }: Input): number` */
  readonly head: string;
  readonly parameters: readonly Parameter[];
  readonly returns: string | undefined;
  /** Its own comment, Markdown. */
  readonly doc: string;
  /** Types of the file that the head names. */
  readonly types: readonly string[];
  /** What the config may write below `args`. */
  readonly args: readonly Parameter[];
  /** Where a script's function takes its argument apart. */
  readonly taken?: Taken | undefined;
  /** Of a Python function: by whose names it is called. */
  readonly recognised?: Recognised;
  /** 0-based. */
  readonly line: number;
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
