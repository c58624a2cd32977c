/** What every contract is about: times, names, and what is saved. */
import type { Json } from "../../shared/lib/json.ts";

/** A set of tasks the curriculum chooses between, written `<task name>/<value>` or `<task name>`. */
export type Arm = string;

/** Where in a run something happens. Top-level schedules read `step`, those written in a stage read `stageStep`. */
export interface Clock {
  /** Steps over all `rl` stages, from 0. */
  readonly step: number;
  /** Steps within the present stage, from 0. */
  readonly stageStep: number;
}

/** Everything with state is saved as JSON plus named arrays, and is exactly itself after `load`. */
export interface Saved {
  readonly json: Json;
  readonly arrays?: Readonly<Record<string, Float64Array | Float32Array | Int32Array>>;
}

export interface Stateful {
  save(): Saved;
  load(saved: Saved): void;
}

export type { Finish } from "../../shared/rollouts/fields.ts";

/** policy | reference | previous | ema | a name in `models`; with `@<name>` after it, that model with other contexts of the batch. */
export type Model = string;

export type Level = "response" | "turn" | "step" | "token";
