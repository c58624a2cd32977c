import { setTo } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";
import { isV1 } from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const section = "algorithm.filter_groups";
const [enable, metric, limit, inFlight] = [
  "enable",
  "metric",
  "max_num_gen_batches",
  "max_inflight_gen_batches",
].map((name) => `${section}.${name}`) as [string, string, string, string];
const [judge, pool] = ["reward.reward_model.enable", "reward.reward_model.enable_resource_pool"];

/** Releases without the newer trainer accept the section and never read it. */
function unread(model: RuleModel): RuleDiagnostic[] {
  if (isV1(model)) return [];
  const message = `This trainer of verl ${model.document.version.text} never reads \`${section}\`, so it filters no group.`;
  return found(model, [enable], message, {
    severity: "warning",
    fixes: model.since("0.9.0") ? [setTo(model, "trainer.use_v1", true)] : [],
  });
}

function withoutMetric(model: RuleModel): RuleDiagnostic[] {
  if (model.value(metric) !== null && model.value(metric) !== "") return [];
  const message =
    "`filter_groups` is on, but `metric` is null: name the value that must differ within a group, `acc` or a key of your reward's dict.";
  const usual = model.since("0.9.1") ? "reward" : "acc";
  return found(model, [metric, enable], message, { fixes: [setTo(model, metric, usual)] });
}

function lateRewards(model: RuleModel): RuleDiagnostic[] {
  if (model.flag(judge) !== true || model.flag(pool) !== false) return [];
  const message =
    "`filter_groups` needs the rewards while sampling, but a reward model on the training GPUs computes them later: give it its own GPUs.";
  return found(model, [pool, judge, enable], message, { fixes: [setTo(model, pool, true)] });
}

function ignoredLimit(model: RuleModel): RuleDiagnostic[] {
  const batches = model.number(limit);
  if (batches === undefined || batches <= 0) return [];
  const message = `\`max_num_gen_batches\` ${batches} is ignored: \`max_inflight_gen_batches\` limits the batches generated at once.`;
  return found(model, [limit], message, { severity: "warning" });
}

function wrongLimit(model: RuleModel): RuleDiagnostic[] {
  const flying = model.number(inFlight);
  if (flying === undefined || size(model, inFlight) !== undefined) return [];
  const message = `\`max_inflight_gen_batches\` must be a whole number above 0, not ${flying}.`;
  return found(model, [inFlight], message, { fixes: [setTo(model, inFlight, 1)] });
}

export const filterGroups = verlRule({
  id: "verl-filter-groups",
  title: "Dynamic sampling cannot filter",
  why: "Since 0.9 `_resolve_filter_groups_metric` (verl/trainer/ppo/v1/trainer_base.py) requires a `metric` and rewards that exist while sampling, and ignores `max_num_gen_batches`; `ReplayBuffer` (replay_buffer.py) requires `max_inflight_gen_batches` above 0. Before 0.9 only recipes filtered groups: verl's own trainer read none of these keys.",
  check(model) {
    if (model.flag(enable) !== true || model.text("trainer.v1.sampler.custom_sampler.path") !== undefined)
      return [];
    const idle = unread(model);
    if (idle.length > 0) return idle;
    return [withoutMetric, lateRewards, ignoredLimit, wrongLimit].flatMap((one) => one(model));
  },
});
