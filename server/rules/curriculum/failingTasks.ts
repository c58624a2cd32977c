import { UserError } from "../../../shared/lib/errors.ts";
import type { ArmSet } from "../../core/slots/arms.ts";
import type { Signal } from "../../core/slots/curriculum.ts";
import type { ArmPool } from "../../core/slots/fastArms.ts";
import { lifted } from "../../methods/curriculum/fast/lifted.ts";
import type { Group } from "../../core/rollouts.ts";
import { create } from "../../core/create.ts";
import type { Failing, SlotName, Choice, CreateContext } from "../../core/declaration.ts";
import { perKey, perObject } from "../../lib/perObject.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

const rollouts = 8;
/** Beside one that half succeeds, an even share is ½. */
const mostShare = 0.6;
/** A sampler that draws what always fails no more than this guards an admission that keeps it. */
const guarded = 0.25;

/** A group of which so many succeed, with the advantages of a group mean and standard deviation. */
function groupOf(right: number): Group {
  const rewards = Float64Array.from({ length: rollouts }, (_, i) => Number(i < right));
  const mean = right / rollouts;
  const spread = Math.sqrt(mean * (1 - mean));
  const task = { id: "any", source: "any", env: "any", prompt: "", data: {} };
  return {
    ...{ task, arm: "any", rewards, successes: right, lengths: new Float64Array(rollouts).fill(1) },
    advantages: rewards.map((reward) => (spread === 0 ? 0 : (reward - mean) / spread)),
  };
}

const arms: ArmSet = { size: 2, name: String, find: () => -1 };

/** What a sampler compares of an arm that has had the same group in each of a few steps. */
function scoreOf(signal: Signal, right: number): number {
  const group = groupOf(right);
  let measured: ArrayLike<number> = [];
  for (let step = 0; step < 3; step++) {
    measured = signal.measure(group, 0, arms, []);
    signal.remember?.(group, 0, arms);
    signal.endStep?.();
  }
  const mean = Array.from(measured).reduce((sum, value) => sum + value, 0) / measured.length;
  return signal.score?.(mean) ?? mean;
}

/** Two arms with equal counts. */
function poolOf(estimates: Float64Array): ArmPool {
  return {
    ...{ arms, size: 2, estimates, once: false, totals: { rollouts: 800, groups: 100 } },
    rollouts: Float64Array.of(400, 400),
    groups: Float64Array.of(50, 50),
    priors: Float64Array.of(1, 1),
    open: Uint8Array.of(1, 1),
    posterior: { spread: () => 0.05, draw: (arm) => estimates[arm]! },
    estimate: (arm) => estimates[arm]!,
    prior: () => 1,
    isOpen: () => true,
  };
}

const failingOf = <Slot extends SlotName>({ declaration, params }: Choice<Slot>): Failing | undefined =>
  declaration.failing?.(params);

/** Shares of a curriculum that stages have in common, by their longest responses. */
const sharesOf = perObject((curriculum: StageBody["curriculum"]) =>
  perKey((max_tokens: number) => computedShare(curriculum, max_tokens)),
);

/** The share of draws that a task gets that always fails, if another half succeeds; undefined: not by outcomes. */
const shareOf = ({ curriculum, rollout }: StageBody): number | undefined =>
  sharesOf(curriculum)(rollout.max_tokens);

function computedShare(
  { signal, estimator, sampler }: StageBody["curriculum"],
  max_tokens: number,
): number | undefined {
  const takes = [signal, estimator, sampler].flatMap(({ declaration }) => declaration.takes ?? []);
  const own = [failingOf(signal), failingOf(estimator), failingOf(sampler)];
  if (takes.includes("points") || own.some((one) => one !== undefined)) return undefined;
  const context: CreateContext = { random: keyedRandom("failing"), max_tokens, group: rollouts };
  try {
    const scores = [rollouts / 2, 0].map((right) => scoreOf(create(signal, context), right));
    const pool = poolOf(Float64Array.from(scores));
    return lifted(create(sampler, context)).probabilities(pool, { step: 0, stageStep: 0 })[1];
  } catch (error) {
    // Parameters that do not fit one another have a diagnostic of their own.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const guards =
  "Add `curriculum.admission: nonzero_variance`, which leaves out groups without a success, and a floor, e.g. `curriculum.sampler: { use: proportional, floor: 0.5 }`; or choose a signal that is 0 where all fail and where all succeed, e.g. `variance`.";

function reportSampler(model: ConfigModel, view: StageView): void {
  const { curriculum } = view.config.body;
  if (failingOf(curriculum.admission) === "left_out") return;
  const { signal, sampler } = curriculum;
  const own = failingOf(sampler);
  const share = own === undefined ? shareOf(view.config.body) : undefined;
  const name = `\`${sampler.declaration.name}\``;
  if (typeof own !== "object" && (share === undefined || share <= mostShare)) return;
  const how =
    typeof own === "object"
      ? `${name} ${own.kept}`
      : `By its formula ${name} over \`${signal.declaration.name}\` gives ${Math.round(100 * share!)} % of the draws to a task that always fails, when the other task succeeds half of the time`;
  const path = ["curriculum", "admission"];
  reportAt(model, view, failingTasks, [["curriculum", "sampler"], ["curriculum", "signal"], ["curriculum"]], {
    severity: "info",
    message: `${how}. If some tasks cannot be solved, most rollouts go to them and teach nothing. ${guards}`,
    fileFixes: [
      model.edits.set(
        pathIn(view, placeOf(view.body, "curriculum", "sampler"), ...path),
        "nonzero_variance",
        "Leave out groups without a success: `admission: nonzero_variance`",
        false,
      ),
    ],
  });
}

function reportAdmission(model: ConfigModel, view: StageView): void {
  const { admission, sampler } = view.config.body.curriculum;
  const own = failingOf(admission);
  if (typeof own !== "object" || (shareOf(view.config.body) ?? 1) <= guarded) return;
  reportAt(model, view, failingTasks, [["curriculum", "admission"], ["curriculum"]], {
    severity: "info",
    message: `\`${admission.declaration.name}\` ${own.kept}, and the sampler \`${sampler.declaration.name}\` does not draw these less. If some tasks cannot be solved, most rollouts go to them and teach nothing. Choose another admission, e.g. \`success_band\`, or let the sampler draw by a signal that is 0 where all fail: \`signal: variance\`, \`estimator: ema\`, \`sampler: { use: proportional, floor: 0.1 }\`.`,
  });
}

/** Nothing that always fails is sought without a guard. */
export const failingTasks: Rule = {
  id: "failing-tasks",
  title: "Curriculum that prefers tasks that always fail",
  why: "Some published curricula draw a task more often the more it fails, or keep only the hardest tasks. A task that cannot be solved at all (because its answer in the dataset is wrong, or it is beyond the model) is then drawn most, and forever: its groups have no advantage, and the step's rollouts are spent on them. The share in the message is computed by the sampler itself for two tasks, one that always fails and one that half of the rollouts solve; an even share is 50 %.\n\nTwo guards: an admission that leaves out groups without a success (`nonzero_variance`, `success_band` with `low` above 0, `min_best_reward`), and a sampler with a floor, so that every other task keeps its share (`proportional`). Or choose a signal that is 0 at both ends (`variance`, `mean_abs_advantage`). This is only a note: the choice may be the paper's own.",
  check: eachRlStage((view, model) => {
    reportSampler(model, view);
    reportAdmission(model, view);
  }),
};
