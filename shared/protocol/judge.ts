/** A reward term as a judge, and a person's labels that it is compared with. */
import { z } from "zod";
import type { JudgeReport } from "../rollouts/judgeReport.ts";
import type { RolloutRow } from "../rollouts/rollouts.ts";
import { request } from "./descriptor.ts";
import { edited, run, stepRange } from "./parameters.ts";

export interface DrawnRollout {
  readonly row: RolloutRow;
  /** What the term gave it. */
  readonly score: number;
  /** How many rollouts it represents, relative to the others; 1 on average. */
  readonly weight: number;
}

/** Rollouts to label: as many that a term passes as others, over its whole range, in an order that says nothing of its score. */
export const judgeDraw = request<{
  /** Rollouts that were drawn from. */
  readonly candidates: number;
  readonly drawn: readonly DrawnRollout[];
}>()(
  "gradus/judge/draw",
  run.extend({
    ...stepRange,
    term: z.string(),
    /** With those that have a label. */
    count: z.number().int().positive().max(1_000).default(20),
    seed: z.number().int().default(0),
    /** Those that have a label: they count as drawn, and are not drawn again. */
    known: z
      .array(z.object({ step: z.number().int(), group: z.string(), index: z.number().int() }))
      .default([]),
  }),
);

/** What the labels of a file say of a term: next to its recorded scores, or to those that it gives now. */
export const judgeReport = request<{ readonly report: JudgeReport }>()(
  "gradus/judge/report",
  edited.extend({
    term: z.string(),
    /** The file of labels; default: the one next to the config. */
    labels: z.string().optional(),
    /** Runs the term on the labelled answers, in a trusted workspace. */
    ask: z.boolean().default(false),
    /** A score from here on is a pass. */
    threshold: z.number().optional(),
    /** The Python of rewards that name none. */
    python: z.string().optional(),
  }),
);
