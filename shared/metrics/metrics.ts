/** The one list of metric names: unit, direction, what it says, and what other systems call it. */
import type { Metric } from "./metric.ts";
import { evaluationMetrics } from "./evaluationMetrics.ts";
import { updateMetrics } from "./updateMetrics.ts";

export const metrics: readonly Metric[] = [
  {
    name: "reward/total",
    unit: "",
    better: "higher",
    summary: "Mean combined reward over the step's rollouts.",
    aliases: { trl: ["reward"], verl: ["critic/score/mean"], openrlhf: ["reward"] },
  },
  {
    name: "reward/total/std",
    unit: "",
    better: null,
    summary: "Standard deviation of the combined reward over the step's rollouts.",
    aliases: { trl: ["reward_std"] },
  },
  {
    name: "reward/total/min",
    unit: "",
    better: null,
    summary: "Lowest combined reward among the step's rollouts.",
    aliases: { verl: ["critic/score/min"] },
  },
  {
    name: "reward/total/max",
    unit: "",
    better: null,
    summary: "Highest combined reward among the step's rollouts.",
    aliases: { verl: ["critic/score/max"] },
  },
  {
    name: "reward/<term>",
    unit: "",
    better: "higher",
    summary: "Mean of one reward term, before its weight, where it applies.",
    aliases: { trl: ["rewards/<term>/mean"], prime_rl: ["rewards/<term>/mean"] },
  },
  {
    name: "reward/<term>/errors",
    unit: "count",
    better: "lower",
    summary: "Rollouts on which the term failed.",
  },
  {
    name: "reward/<term>/weight",
    unit: "",
    better: null,
    summary: "Weight of the term in the step, by its schedule, its stage, and live settings.",
  },
  {
    name: "reward/<term>/<criterion>",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary:
      "How far a criterion of the term is met, over the step's rollouts. Only for criteria that a quarter of the groups share, at most 16 per term.",
  },
  {
    name: "advantage/mean_abs",
    unit: "",
    better: null,
    summary: "Mean absolute advantage over trained tokens.",
  },
  {
    name: "groups/all_right",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Groups in which every rollout succeeded.",
    aliases: { prime_rl: ["by_group/frac_all_good"] },
  },
  {
    name: "groups/mixed",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Groups with successes and failures: those that give a learning signal.",
    aliases: { prime_rl: ["by_group/frac_mixed"] },
  },
  {
    name: "groups/all_wrong",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Groups in which no rollout succeeded.",
    aliases: { prime_rl: ["by_group/frac_all_bad"] },
  },
  {
    name: "groups/zero_advantage",
    unit: "fraction",
    better: "lower",
    range: [0, 1],
    summary: "Groups whose rollouts all have advantage 0: nothing is learned from them.",
    aliases: { trl: ["frac_reward_zero_std"] },
  },
  {
    name: "learner/<model>/<measure>",
    unit: "",
    better: null,
    summary: "A metric of the update of a model that trains in addition to the policy.",
  },
  { name: "groups/admitted", unit: "count", better: null, summary: "Groups that reached training." },
  { name: "groups/drawn", unit: "count", better: null, summary: "Groups generated, rejected ones included." },
  {
    name: "rollout/length",
    unit: "tokens",
    better: null,
    summary: "Mean response length.",
    aliases: {
      trl: ["completions/mean_length"],
      verl: ["response_length/mean"],
      openrlhf: ["response_length"],
    },
  },
  {
    name: "rollout/truncated",
    unit: "fraction",
    better: "lower",
    range: [0, 1],
    summary: "Responses truncated at max_tokens.",
    aliases: {
      trl: ["completions/clipped_ratio"],
      verl: ["response_length/clip_ratio"],
      openrlhf: ["truncated"],
    },
  },
  {
    name: "policy/entropy",
    unit: "nats",
    better: null,
    summary: "Mean entropy of the next-token distribution on generated tokens.",
    aliases: { trl: ["entropy"], verl: ["actor/entropy"] },
  },
  {
    name: "policy/kl/<model>/coefficient",
    unit: "",
    better: null,
    summary: "Coefficient of a KL term that follows the measured divergence.",
    aliases: { verl: ["actor/reward_kl_penalty_coeff"] },
  },
  {
    name: "policy/kl/<model>",
    unit: "nats",
    better: null,
    summary: "k3 estimate of the divergence from another model.",
    aliases: { trl: ["kl"], verl: ["actor/kl_loss"], openrlhf: ["kl"] },
  },
  ...updateMetrics,
  {
    name: "curriculum/<arm>/share",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Share of the step's groups drawn from the arm.",
  },
  {
    name: "curriculum/<arm>/estimate",
    unit: "",
    better: null,
    summary: "The estimator's estimate of the arm after the step.",
  },
  {
    name: "curriculum/<arm>/spread",
    unit: "",
    better: null,
    summary: "Standard deviation of that estimate, for estimators that have one.",
  },
  {
    name: "generated/<source>/armless",
    unit: "count",
    better: "lower",
    summary: "Made tasks that belong to no arm, so they are never drawn.",
  },
  ...evaluationMetrics,
  {
    name: "merge/moved",
    unit: "",
    better: null,
    summary:
      "How far a merge moved the policy's weights, or its adapter's contribution to them, relative to their norm.",
  },
  {
    name: "merge/lost",
    unit: "fraction",
    better: "lower",
    summary: "Share of the norm of the adapters' mean that their rank cannot hold.",
  },
  {
    name: "time/<phase>",
    unit: "seconds",
    better: "lower",
    summary:
      "Wall time of one phase of the step: choose (the curriculum draws and learns), generate, reward, score, update, evaluate, log, total.",
    aliases: { verl: ["timing_s/*"], trl: ["step_time"] },
  },
  { name: "tokens/generated", unit: "tokens", better: null, summary: "Tokens generated in the step." },
  {
    name: "tokens/trained",
    unit: "tokens",
    better: null,
    summary: "Tokens that entered the step's gradient.",
  },
  {
    name: "memory/rss",
    unit: "bytes",
    better: "lower",
    summary: "Resident memory of the run's process at the end of the step.",
  },
  {
    name: "memory/peak",
    unit: "bytes",
    better: "lower",
    summary: "Largest resident memory of the run's process so far.",
  },
  {
    name: "memory/predicted",
    unit: "bytes",
    better: null,
    summary: "Peak memory that was predicted before the run started.",
  },
  {
    name: "memory/tensors",
    unit: "count",
    better: null,
    summary: "Tensors alive on the device at the end of the step: constant when nothing leaks.",
  },
  {
    name: "guidance/groups",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Groups in which at least one rollout was helped.",
  },
  {
    name: "guidance/rollouts",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Rollouts of the step that were helped.",
  },
  {
    name: "guidance/share",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Mean share of the help that helped rollouts got.",
  },
  {
    name: "guidance/success",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Helped rollouts that succeeded.",
  },
  {
    name: "guidance/plain_success",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Unhelped rollouts that succeeded before any was replaced: what the policy can do without help.",
  },
  {
    name: "guidance/given_tokens",
    unit: "tokens",
    better: null,
    summary: "Tokens prefilled into responses.",
  },
  {
    name: "guidance/extra_tokens",
    unit: "tokens",
    better: "lower",
    summary:
      "Tokens of replaced rollouts and of help that models generated: a cost that no rollout of the step shows.",
  },
  {
    name: "branch/rollouts",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Rollouts of the step that branched off another rollout.",
  },
  {
    name: "branch/entropy",
    unit: "nats",
    better: null,
    summary: "Mean entropy at the tokens that branches left before.",
  },
  {
    name: "branch/place",
    unit: "fraction",
    better: null,
    range: [0, 1],
    summary: "Where branches left, as a fraction of the rollout that they left: 0 is its start.",
  },
  {
    name: "branch/success",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Branches that succeeded.",
  },
  {
    name: "replay/size",
    unit: "count",
    better: null,
    summary: "Rollouts of earlier steps, or of a file, that are kept.",
  },
  { name: "replay/rows", unit: "count", better: null, summary: "Rollouts replayed in the step." },
  {
    name: "replay/age",
    unit: "count",
    better: null,
    summary: "Mean age of the replayed rollouts, in steps.",
  },
  {
    name: "replay/reward",
    unit: "",
    better: null,
    summary: "Mean combined reward of the replayed rollouts, as recorded.",
  },
  {
    name: "loss/<part>",
    unit: "",
    better: null,
    summary:
      "One of several losses of an optimiser step, before its weight: policy, replay or an auxiliary one.",
  },
  {
    name: "loss/<part>/weight",
    unit: "",
    better: null,
    summary: "Weight that recap gives to one of the losses.",
  },
  {
    name: "privacy/epsilon",
    unit: "",
    better: "lower",
    summary: "ε of the privacy budget spent by the noisy steps so far, without amplification by sampling.",
  },
  {
    name: "rollout/count",
    unit: "count",
    better: null,
    summary: "Rollouts of the step, whether they train or not.",
  },
  {
    name: "rollout/scored",
    unit: "count",
    better: "higher",
    summary: "Rollouts of the step that have a reward; `reward/total` is the mean over these.",
  },
  {
    name: "auxiliary/<auxiliary>/waiting",
    unit: "count",
    better: null,
    summary: "Tasks that failed in all their rollouts and whose solutions wait to be learned.",
  },
];

const given = ({ name }: Metric): number => name.replaceAll(/<\w+>|@k/g, "").length;

/** `reward/<term>` and the like as patterns; the closest first, `reward/<term>/errors` before `reward/<term>`. */
const patterns = [...metrics]
  .sort((one, other) => given(other) - given(one))
  .map((metric) => ({
    metric,
    pattern: new RegExp(`^${metric.name.replaceAll(/<\w+>/g, ".+").replace("@k", "@\\d+")}$`),
  }));

/** The entry that a metric's own name belongs to. */
export const metricNamed = (name: string): Metric | undefined =>
  metrics.find((metric) => metric.name === name) ??
  patterns.find(({ pattern }) => pattern.test(name))?.metric;

/** The list with its holes filled: each name once for each value of each `<…>` and `@k` in it. */
export function expandedMetrics(
  fill: Readonly<Record<string, readonly string[]>>,
): { name: string; summary: string }[] {
  const expand = (name: string): string[] => {
    const hole = Object.keys(fill).find((key) => name.includes(key));
    return hole === undefined
      ? [name]
      : (fill[hole] ?? []).flatMap((value) => expand(name.replace(hole, value)));
  };
  const found = metrics.flatMap(({ name, summary }) => expand(name).map((full) => ({ name: full, summary })));
  return found.filter(({ name }) => !/<\w+>/.test(name));
}
