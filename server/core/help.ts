/** What a rollout keeps of the help that it had. */
import type { ResponseOrigin } from "../../shared/rollouts/fields.ts";

/** What the rollouts were that train in one step. */
export interface StepMixture {
  /** Share of them that was helped. */
  readonly explored: number;
  /** Share of the plain ones that failed, of those that could be scored; 0 where none could. */
  readonly errors: number;
}

/** How a rollout was helped: kept with it. */
export interface HelpRecord {
  /** The source's method, or that of the start state. */
  readonly use: string;
  readonly by?: string;
  /** Share of the help that was given. */
  readonly share?: number;
  /** Round of help in the group, from 0. */
  readonly round: number;
  /** What was asked in the place of the task's prompt. */
  readonly prompt?: string;
  /** Tokens put into the response, and as text. */
  readonly given?: number;
  readonly text?: string;
  /** The row trains conditioned on the task's own prompt. */
  readonly stripped?: boolean;
  readonly error_rate?: number;
  readonly curve?: HelpCurve;
  /** Of a recorded rollout: of its prefilled and its generated tokens, how many there are and how many train. */
  readonly trains?: Readonly<Record<ResponseOrigin, { readonly tokens: number; readonly trained: number }>>;
}

/** What guidance keeps with a rollout. */
export interface GuidedRecord {
  /** How it was helped, where it was. */
  readonly help?: HelpRecord;
  /** What the rollouts of its step were, where a ratio reads it. */
  readonly mixture?: StepMixture;
}

/** A fitted curve of success by help: c + (1 − c) / (1 + exp(−k (h − b))). */
export interface HelpCurve {
  readonly chance: number;
  readonly slope: number;
  readonly middle: number;
}
