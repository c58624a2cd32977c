/** A run whose reward threw on nearly all rollouts, and which has ended. */
import type { RunWarning } from "../../shared/run/outcome.ts";
import { panelVersion, type PanelFailures, type ToPanel } from "../../shared/editor/runPanel.ts";
import { evaluationsUpTo, runAt, seriesUpTo, training, warmUp } from "./fakeRun.ts";

const last = warmUp + training - 1;
const failures: PanelFailures = {
  failures: [
    {
      term: "correct",
      message: "threw TypeError: Cannot read properties of undefined (reading 'answer')",
      count: 5_900,
      first: 300,
      last: 419,
      file: "/project/rewards/correct.ts",
      line: 12,
      column: 7,
    },
    {
      term: "correct",
      message: "gave no answer within 2 s, twice",
      count: 185,
      first: 310,
      last: 310,
      file: null,
      line: null,
      column: null,
    },
  ],
  kinds: 7,
  failed: { correct: 6_085 },
  rollouts: 6_400,
};
const warnings: readonly RunWarning[] = [
  {
    reason: "nothing-trained",
    label: "nothing trained",
    message:
      "Nothing was trained in the 120 steps with rollouts: `correct` failed on 6,085 of 6,400 rollouts.",
  },
];

/** The fake run, in which every step from training on scored 3 of 64 rollouts. */
export const failedRun = (scored: number): ToPanel => ({
  version: panelVersion,
  type: "show",
  run: runAt(last, { status: "finished", endedAt: "2026-11-21T19:50:00.000Z", warnings }),
  series: [
    ...seriesUpTo(last).filter(({ metric }) => metric !== "reward/correct/errors"),
    ...(
      [
        ["reward/correct/errors", 64 - scored],
        ["rollout/scored", scored],
        ["rollout/count", 64],
      ] as const
    ).map(([metric, value]) => {
      const steps = Array.from({ length: training }, (_, i) => warmUp + i);
      return { metric, steps, values: steps.map(() => value), total: training };
    }),
  ],
  evaluations: evaluationsUpTo(last),
  errors: 0,
  failures,
});
