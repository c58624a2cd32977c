import { plural } from "../../../shared/lib/format.ts";
import { gridSize, sweepSeeds } from "../../config/sweep/trials.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import type { SweepConfig } from "../../core/blocks/sweep.ts";
import { keyOf, placeOf, type Rule } from "../rule.ts";

/** Early stopping has something to go by. */
export const sweepStop: Rule = {
  id: "sweep-stop",
  title: "Early stopping that can stop nothing",
  why: "`sweep.stop` looks at a run when it is evaluated: every `evaluation.every` steps, from `stop.after` on. Before the last step there must be such an evaluation, and before this run `stop.trials` others that came as far; else every run goes on to its end.\n\nThe rule is the median rule of Vizier (Golovin et al., 2017): a run is stopped when its best value so far is worse than the median of the mean values that the others had up to the same step.",
  check(model) {
    const { sweep, evaluation, seed } = model.config;
    if (sweep?.stop === undefined || model.capped) return;
    const { after, trials } = sweep.stop;
    const steps = stepsOf(model, true);
    const { every } = evaluation;
    // `after` counts the steps of a warm-up too, evaluations do not.
    const start = Math.max(0, after - stepsOf(model, false));
    const first = Math.max(1, Math.ceil(start / every)) * every;
    if (first >= steps)
      return say(
        model,
        "after",
        `No run can be stopped early: between step ${after} and the end there is no evaluation, with \`evaluation.every\` ${every}. Evaluate more often, or lower \`after\`.`,
      );
    const count = runsOf(sweep, seed);
    if (count <= trials)
      say(
        model,
        "trials",
        `No run can be stopped early: \`stop.trials\` asks for ${plural(trials, "other run")} to compare with, and the sweep has ${count} in all.`,
      );
  },
};

/** Of the stages that train by rewards, or of the others. */
const stepsOf = ({ stages }: ConfigModel, rl: boolean): number =>
  stages.reduce((sum, { config: { kind, steps } }) => sum + ((kind === "rl") === rl ? steps : 0), 0);

const runsOf = (sweep: SweepConfig, seed: number): number =>
  (sweep.method === "grid" ? gridSize(sweep.parameters) : (sweep.trials ?? 0)) *
  sweepSeeds(sweep, seed).length;

function say({ root, report, edits }: ConfigModel, key: "after" | "trials", message: string): void {
  report({
    rule: sweepStop.id,
    severity: "warning",
    message,
    key: `sweep.stop.${key}`,
    at: placeOf(root, "sweep", "stop", key) ?? keyOf(root, "sweep", "stop") ?? root.origin,
    fileFixes: [edits.remove(["sweep", "stop"], "Remove `stop`", false)],
  });
}
