/** The one list of metric names: unit, direction, what it says, and what other systems call it. */
import { fraction, metric, type Metric } from "./metric.ts";
import { episodeMetrics } from "./episodeMetrics.ts";
import { evaluationMetrics } from "./evaluationMetrics.ts";
import { timeMetrics } from "./timeMetrics.ts";
import { updateMetrics } from "./updateMetrics.ts";

export const metrics: readonly Metric[] = [
  metric("reward/total", "Mean combined reward over the step's rollouts.", {
    better: "higher",
    aliases: {
      trl: ["reward"],
      verl: ["critic/score/mean"],
      openrlhf: ["reward"],
      skyrl: ["reward/avg_raw_reward"],
    },
  }),
  metric("reward/total/std", "Standard deviation of the combined reward over the step's rollouts.", {
    aliases: { trl: ["reward_std"], openrlhf: ["rollout/reward_std"] },
  }),
  metric("reward/total/min", "Lowest combined reward among the step's rollouts.", {
    aliases: { verl: ["critic/score/min"] },
  }),
  metric("reward/total/max", "Highest combined reward among the step's rollouts.", {
    aliases: { verl: ["critic/score/max"] },
  }),
  metric("reward/total/p10", "A tenth of the step's rollouts have a combined reward below this."),
  metric("reward/total/p90", "A tenth of the step's rollouts have a combined reward above this."),
  metric("reward/<term>", "Mean of one reward term, before its weight, where it applies.", {
    better: "higher",
    aliases: { trl: ["rewards/<term>/mean", "rewards/<term>"], prime_rl: ["rewards/<term>/mean"] },
  }),
  metric("reward/<term>/errors", "Rollouts on which the term failed.", { unit: "count", better: "lower" }),
  metric(
    "reward/<term>/weight",
    "Weight of the term in the step, by its schedule, its stage, and live settings.",
  ),
  fraction(
    "reward/<term>/<criterion>",
    "How far a criterion of the term is met, over the step's rollouts. Only for criteria that a quarter of the groups share, at most 16 per term.",
  ),
  metric(
    "reward/<term>/component/<component>",
    "Mean of a number that the term gives next to its value (verl's `acc` next to `score`). It counts nothing. At most 16 per term.",
  ),
  metric("advantage/mean_abs", "Mean absolute advantage over trained tokens.", {
    aliases: { skyrl: ["loss/avg_raw_advantages_abs"] },
  }),
  fraction("groups/all_right", "Groups in which every rollout succeeded.", {
    aliases: { prime_rl: ["by_group/frac_all_good"] },
  }),
  fraction("groups/mixed", "Groups with successes and failures: those that give a learning signal.", {
    better: "higher",
    aliases: { prime_rl: ["by_group/frac_mixed"] },
  }),
  fraction("groups/all_wrong", "Groups in which no rollout succeeded.", {
    aliases: { prime_rl: ["by_group/frac_all_bad"] },
  }),
  fraction(
    "groups/zero_advantage",
    "Groups whose rollouts all have advantage 0: nothing is learned from them.",
    { better: "lower", aliases: { trl: ["frac_reward_zero_std"] } },
  ),
  fraction("groups/success_rate", "Rollouts that succeeded, of those that have a reward.", {
    better: "higher",
  }),
  fraction(
    "rollout/unearned",
    "Successful rollouts whose response also succeeds on a task of the step with another answer: the reward does not need the answer.",
    { better: "lower" },
  ),
  metric(
    "learner/<model>/<measure>",
    "A metric of the update of a model that trains in addition to the policy.",
  ),
  metric("groups/admitted", "Groups that reached training.", { unit: "count" }),
  metric("groups/drawn", "Groups generated, rejected ones included.", { unit: "count" }),
  metric("rollout/length", "Mean response length.", {
    unit: "tokens",
    aliases: {
      trl: ["completions/mean_length", "completion_length"],
      verl: ["response_length/mean"],
      openrlhf: ["response_length"],
      skyrl: ["generate/avg_num_tokens"],
    },
  }),
  metric("rollout/length/p10", "A tenth of the step's responses are shorter than this.", { unit: "tokens" }),
  metric("rollout/length/p50", "Half of the step's responses are shorter than this.", { unit: "tokens" }),
  metric("rollout/length/p90", "A tenth of the step's responses are longer than this.", { unit: "tokens" }),
  metric(
    "rollout/staleness",
    "Updates of the weights between those that began a rollout and those that it trains, on average. Only of imported runs that say so.",
    { unit: "count", better: "lower", imported: true, aliases: { prime_rl: ["off_policy/mean"] } },
  ),
  metric("rollout/staleness/max", "The most such updates of a rollout of the step.", {
    unit: "count",
    better: "lower",
    imported: true,
    aliases: { prime_rl: ["off_policy/max"] },
  }),
  fraction("rollout/truncated", "Responses truncated at max_tokens.", {
    better: "lower",
    aliases: {
      trl: ["completions/clipped_ratio"],
      verl: ["response_length/clip_ratio"],
      openrlhf: ["truncated"],
    },
  }),
  ...episodeMetrics,
  metric("policy/entropy", "Mean entropy of the next-token distribution on generated tokens.", {
    unit: "nats",
    aliases: {
      trl: ["entropy"],
      verl: ["actor/entropy", "actor/entropy_loss"],
      skyrl: ["policy/policy_entropy"],
      prime_rl: ["entropy/all/mean"],
    },
  }),
  metric("policy/kl/<model>/coefficient", "Coefficient of a KL term that follows the measured divergence.", {
    aliases: { verl: ["actor/reward_kl_penalty_coeff"], skyrl: ["loss/kl_loss_coef"] },
  }),
  metric("policy/kl/<model>", "k3 estimate of the divergence from another model.", {
    unit: "nats",
    aliases: {
      trl: ["kl"],
      verl: ["actor/kl_loss"],
      openrlhf: ["kl"],
      skyrl: ["policy/policy_kl", "loss/avg_kl"],
    },
  }),
  ...updateMetrics,
  fraction("curriculum/<arm>/share", "Share of the step's groups drawn from the arm."),
  metric("curriculum/<arm>/estimate", "The estimator's estimate of the arm after the step."),
  metric("curriculum/<arm>/spread", "Standard deviation of that estimate, for estimators that have one."),
  metric("generated/<source>/armless", "Made tasks that belong to no arm, so they are never drawn.", {
    unit: "count",
    better: "lower",
  }),
  ...evaluationMetrics,
  metric(
    "merge/moved",
    "How far a merge moved the policy's weights, or its adapter's contribution to them, relative to their norm.",
  ),
  metric("merge/lost", "Share of the norm of the adapters' mean that their rank cannot hold.", {
    unit: "fraction",
    better: "lower",
  }),
  ...timeMetrics,
  metric("tokens/generated", "Tokens generated in the step.", { unit: "tokens" }),
  metric("tokens/trained", "Tokens that entered the step's gradient.", { unit: "tokens" }),
  metric("memory/rss", "Resident memory of the run's process at the end of the step.", {
    unit: "bytes",
    better: "lower",
  }),
  metric("memory/peak", "Largest resident memory of the run's process so far.", {
    unit: "bytes",
    better: "lower",
  }),
  metric("memory/predicted", "Peak memory that was predicted before the run started.", { unit: "bytes" }),
  metric(
    "memory/tensors",
    "Tensors alive on the device at the end of the step: constant when nothing leaks.",
    { unit: "count" },
  ),
  fraction("guidance/groups", "Groups in which at least one rollout was helped."),
  fraction("guidance/rollouts", "Rollouts of the step that were helped."),
  fraction("guidance/share", "Mean share of the help that helped rollouts got."),
  fraction("guidance/success", "Helped rollouts that succeeded.", { better: "higher" }),
  fraction(
    "guidance/plain_success",
    "Unhelped rollouts that succeeded before any was replaced: what the policy can do without help.",
    { better: "higher" },
  ),
  metric("guidance/given_tokens", "Tokens prefilled into responses.", { unit: "tokens" }),
  metric(
    "guidance/extra_tokens",
    "Tokens of replaced rollouts and of help that models generated: a cost that no rollout of the step shows.",
    { unit: "tokens", better: "lower" },
  ),
  fraction("branch/rollouts", "Rollouts of the step that branched off another rollout."),
  metric("branch/entropy", "Mean entropy at the tokens that branches left before.", { unit: "nats" }),
  fraction(
    "branch/place",
    "Where branches left, as a fraction of the rollout that they left: 0 is its start.",
  ),
  fraction("branch/success", "Branches that succeeded.", { better: "higher" }),
  metric("replay/size", "Rollouts of earlier steps, or of a file, that are kept.", { unit: "count" }),
  metric("replay/rows", "Rollouts replayed in the step.", { unit: "count" }),
  metric("replay/read", "Rollouts that others wrote and the step took up (`use: shared_log`).", {
    unit: "count",
  }),
  metric(
    "replay/left_out",
    "Rollouts that others wrote and that do not train: measured, held out, or not readable.",
    {
      unit: "count",
    },
  ),
  metric(
    "replay/published",
    "Rollouts that the step added to the shared log (`publish: true`); fewer where an earlier attempt had.",
    {
      unit: "count",
    },
  ),
  metric("replay/age", "Mean age of the replayed rollouts, in steps.", { unit: "count" }),
  metric("replay/reward", "Mean combined reward of the replayed rollouts, as recorded."),
  metric(
    "loss/<part>",
    "One of several losses of an optimiser step, before its weight: policy, replay or an auxiliary one.",
  ),
  metric("loss/<part>/weight", "Weight that recap gives to one of the losses."),
  metric(
    "privacy/epsilon",
    "ε of the privacy budget spent by the noisy steps so far, without amplification by sampling.",
    { better: "lower" },
  ),
  metric("rollout/count", "Rollouts of the step, whether they train or not.", {
    unit: "count",
    aliases: { openrlhf: ["rollout/num_samples"] },
  }),
  metric(
    "rollout/scored",
    "Rollouts of the step that have a reward; `reward/total` is the mean over these.",
    { unit: "count", better: "higher" },
  ),
  metric(
    "auxiliary/<auxiliary>/waiting",
    "Tasks that failed in all their rollouts and whose solutions wait to be learned.",
    { unit: "count" },
  ),
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

/** What a run of a config may record, the list's holes filled: each name once for each value of each `<…>` and `@k` in it. */
export function expandedMetrics(
  fill: Readonly<Record<string, readonly string[]>>,
): { name: string; summary: string }[] {
  const expand = (name: string): string[] => {
    const hole = Object.keys(fill).find((key) => name.includes(key));
    return hole === undefined
      ? [name]
      : (fill[hole] ?? []).flatMap((value) => expand(name.replace(hole, value)));
  };
  const own = metrics.filter(({ imported }) => imported !== true);
  const found = own.flatMap(({ name, summary }) => expand(name).map((full) => ({ name: full, summary })));
  const once = new Map(found.toReversed().map((one) => [one.name, one]));
  return found.filter((one) => !/<\w+>/.test(one.name) && once.get(one.name) === one);
}
