/** What runs have recorded: metrics, rollouts, events, evaluations. */
import { z } from "zod";
import type { Json } from "../lib/json.ts";
import type { RewardFailure } from "../run/outcome.ts";
import type { TaskResults } from "../run/taskResults.ts";
import type { MaybeNumber, RolloutRow } from "../rollouts/rollouts.ts";
import type { Why } from "../rollouts/why.ts";
import { request } from "./descriptor.ts";
import { run, stepRange } from "./parameters.ts";

export interface Series {
  readonly metric: string;
  readonly steps: readonly number[];
  /** null where the value is not finite. */
  readonly values: readonly (number | null)[];
  /** Extremes of each bucket, present when the series was reduced to `maxPoints`. */
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
  readonly total: number;
  /**
   * Where `buckets` were asked for: steps in a bucket, a power of two; 1: every point as it was recorded. Of wider ones
   * `steps` are the last of each bucket's points, `begins` the first, `values` their means, `counts` how many were finite.
   */
  readonly width?: number;
  readonly begins?: readonly number[];
  readonly counts?: readonly number[];
  /** The first and the last few points as they were recorded, where there are buckets. */
  readonly head?: RecordedPoints;
  readonly tail?: RecordedPoints;
}
export interface RecordedPoints {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}
export const metricsNames = request<{ readonly names: readonly string[] }>()("gradus/metrics/names", run);
export const metricsSeries = request<{ readonly series: readonly Series[]; readonly step: number }>()(
  "gradus/metrics/series",
  run.extend({
    metrics: z.array(z.string()).min(1),
    from: z.number().int().default(-1).describe("Only steps after this one."),
    to: z.number().int().optional(),
    maxPoints: z.number().int().positive().max(20_000).default(2_000),
    buckets: z
      .number()
      .int()
      .positive()
      .max(20_000)
      .optional()
      .describe("Most buckets, with the same borders for all metrics; use it instead of `maxPoints`."),
    stacks: z
      .array(z.object({ metrics: z.array(z.string()), absent: z.enum(["zero", "unknown"]) }))
      .optional()
      .describe("Metrics that add up: their means are over the steps that have all of them."),
    smooth: z
      .number()
      .min(0)
      .lt(1)
      .optional()
      .describe(
        "Factor of a moving average of each series, made of every point before the series is reduced.",
      ),
  }),
);
/** A step of an imported run whose file has changed since, or is gone. */
export interface UnreadStep {
  readonly step: number;
  /** A sentence that names what has changed. */
  readonly message: string;
  readonly file: string;
}
/** `-` is the highest first. Rollouts without the number come last. */
export const rolloutSorts = [
  "step",
  "-step",
  "reward",
  "-reward",
  "advantage",
  "-advantage",
  "length",
  "-length",
] as const;
export type RolloutSort = (typeof rolloutSorts)[number];
export const rolloutsQuery = request<{
  readonly rollouts: readonly RolloutRow[];
  readonly total: number;
  readonly next: string | null;
  /** Of several steps those that cannot be read: absent where there are none. One `step` that cannot is an error. */
  readonly unread?: readonly UnreadStep[];
}>()(
  "gradus/rollouts",
  run.extend({
    ...stepRange,
    /** e.g. `reward > 0.5 && finish == "length"`; see docs/protocol.md. */
    where: z.string().optional(),
    /** Per-token arrays too. */
    tokens: z.boolean().default(false),
    limit: z.number().int().positive().max(10_000).default(512),
    after: z.string().optional(),
    /** Default: as they were recorded. `length` is that of the response, in characters. */
    sort: z.enum(rolloutSorts).optional(),
  }),
);
/** A rollout whose answer holds what was looked for. */
export interface RolloutHit {
  readonly run: string;
  readonly attempt: number;
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly task: string | null;
  readonly arm: string | null;
  readonly reward: MaybeNumber;
  /** The part of the answer around it; `marks` are [start, end) in that text. */
  readonly snippet: { readonly text: string; readonly marks: readonly (readonly [number, number])[] };
}
/** Answers that hold words, phrases or what a regular expression describes: the newest first, of one run or of the whole store. */
export const rolloutsSearch = request<{
  readonly hits: readonly RolloutHit[];
  /** With the first page: how many there are, or at least are. */
  readonly total: number;
  readonly atLeast: boolean;
  /** `after` of the next page; of a scan there may be one although this page is empty. */
  readonly next: string | null;
  readonly how: "index" | "scan";
  /** Rollouts that have been read and indexed so far: while these are not all, ask again. */
  readonly indexed: { readonly done: number; readonly of: number };
  readonly complete: boolean;
}>()(
  "gradus/rollouts/search",
  z.object({
    run: run.shape.run.optional(),
    /** Words, a "phrase", `beginning*`, `-without`; or `/expression/i`. */
    text: z.string().min(1).max(1000),
    where: z.string().optional(),
    limit: z.number().int().positive().max(1000).default(50),
    after: z.string().optional(),
  }),
);
/** Why a rollout that trains has its advantage, by the run's config as it was at the step. */
export const rolloutsWhy = request<Why>()(
  "gradus/rollouts/why",
  run.extend({ step: z.number().int(), group: z.string(), index: z.number().int() }),
);
export interface EventRow {
  readonly run: string;
  readonly attempt: number;
  readonly step: number;
  readonly time: number;
  readonly severity: "info" | "warning" | "error";
  readonly name: string;
  readonly message: string;
  readonly action: string | null;
  readonly data: Json;
}
export const eventsQuery = request<{ readonly events: readonly EventRow[] }>()(
  "gradus/events",
  run.extend({ limit: z.number().int().positive().default(1_000) }),
);
/** What reward terms failed with, by term and message. */
export const rewardErrors = request<{
  /** The most frequent first. */
  readonly failures: readonly RewardFailure[];
  /** How many kinds there are, of which `failures` may be the first. */
  readonly kinds: number;
  /** By term, the rollouts on which it failed. */
  readonly failed: Readonly<Record<string, number>>;
  /** Rollouts that were to be scored. */
  readonly rollouts: number;
  /** Errors in the run's log that are of no reward term. */
  readonly otherErrors: number;
}>()("gradus/rewards/errors", run.extend({ limit: z.number().int().positive().max(1_000).default(20) }));
export interface EvaluationRow {
  readonly step: number;
  readonly role: "first" | "periodic" | "last";
  readonly metrics: Readonly<Record<string, number>>;
  /** Where `tasks` were asked for and the log has them. */
  readonly results?: TaskResults;
}
export const evaluationsQuery = request<{ readonly evaluations: readonly EvaluationRow[] }>()(
  "gradus/evaluations",
  run.extend({ tasks: z.boolean().default(false).describe("Each held-out task's results too.") }),
);

/** What became of every stage's held-out tasks as one stage ended: `eval/<stage>/pass@k` (`evaluation.matrix`). */
export interface StageEnd {
  readonly step: number;
  /** The stage that ended. */
  readonly stage: string;
  readonly metrics: Readonly<Record<string, number>>;
}
export const matrixQuery = request<{ readonly ends: readonly StageEnd[] }>()("gradus/matrix", run);
