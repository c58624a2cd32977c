import { z } from "zod";
import { selection, param } from "../../../core/declaration.ts";
import type { Candidate } from "../../../core/slots/replay.ts";

/** Places of those that meet a condition, by length. */
const ordered = (rows: readonly Candidate[], meets: (row: Candidate) => boolean, sign: 1 | -1): number[] =>
  [...rows.keys()]
    .filter((at) => meets(rows[at]!))
    .sort((a, b) => sign * (rows[a]!.length - rows[b]!.length) || a - b);

export const shortLong = selection({
  name: "short_long",
  aliases: ["rorecomp"],
  summary:
    "Trains the shortest successes and the longest failures of a step, which contrasts lengths without a reward on length. The paper's share and its schedule of compensation batches could not be confirmed, so both are parameters here.",
  sources: [
    "RoRecomp: Enhancing Reasoning Efficiency via Rollout Response Recomposition in Reinforcement Learning",
  ],
  status: "approximate",
  params: z.object({
    successes: param(
      z.number().gt(0).max(1).default(0.5),
      "Share of the successes that trains, the shortest first.",
    ),
    failures: param(
      z.number().min(0).max(1).default(0.5),
      "Share of the failures that trains, the longest first.",
    ),
  }),
  create: ({ successes, failures }) => ({
    over: "step",
    choose: (rows) => {
      const right = ordered(rows, ({ success }) => success === 1, 1);
      const wrong = ordered(rows, ({ success }) => success === 0, -1);
      return [
        ...right.slice(0, Math.ceil(successes * right.length)),
        ...wrong.slice(0, Math.ceil(failures * wrong.length)),
      ].sort((a, b) => a - b);
    },
  }),
});
