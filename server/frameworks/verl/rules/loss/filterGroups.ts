import { setTo } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";
import { isV1 } from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rule.ts";

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

const withoutMetric = (model: RuleModel): RuleDiagnostic[] =>
  model.value(metric) === null || model.value(metric) === ""
    ? found(
        model,
        [metric, enable],
        "`filter_groups` is on, but `metric` is null: name the value that must differ within a group, `acc` or a key of your reward's dict.",
        {
          fixes: [setTo(model, metric, model.since("0.9.1") ? "reward" : "acc")],
        },
      )
    : [];

const lateRewards = (model: RuleModel): RuleDiagnostic[] =>
  model.flag(judge) === true && model.flag(pool) === false
    ? found(
        model,
        [pool, judge, enable],
        "`filter_groups` needs the rewards while sampling, but a reward model on the training GPUs computes them later: give it its own GPUs.",
        {
          fixes: [setTo(model, pool, true)],
        },
      )
    : [];

function limits(model: RuleModel): RuleDiagnostic[] {
  const batches = model.number(limit);
  const ignored =
    batches !== undefined && batches > 0
      ? found(
          model,
          [limit],
          `\`max_num_gen_batches\` ${batches} is ignored: \`max_inflight_gen_batches\` limits the batches generated at once.`,
          { severity: "warning" },
        )
      : [];
  const flying = model.number(inFlight);
  const wrong =
    flying !== undefined && size(model, inFlight) === undefined
      ? found(
          model,
          [inFlight],
          `\`max_inflight_gen_batches\` must be a whole number above 0, not ${flying}.`,
          {
            fixes: [setTo(model, inFlight, 1)],
          },
        )
      : [];
  return [...ignored, ...wrong];
}

export const filterGroups = verlRule({
  id: "verl-filter-groups",
  title: "Dynamic sampling cannot filter",
  why: "Since 0.9 `_resolve_filter_groups_metric` (verl/trainer/ppo/v1/trainer_base.py) requires a `metric` and rewards that exist while sampling, and ignores `max_num_gen_batches`; `ReplayBuffer` (replay_buffer.py) requires `max_inflight_gen_batches` above 0. Before 0.9 only recipes filtered groups: verl's own trainer read none of these keys.",
  check(model) {
    if (model.flag(enable) !== true || model.text("trainer.v1.sampler.custom_sampler.path") !== undefined)
      return [];
    const idle = unread(model);
    return idle.length > 0 ? idle : [...withoutMetric(model), ...lateRewards(model), ...limits(model)];
  },
});
