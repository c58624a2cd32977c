import { changed, setTo } from "../fixes.ts";
import { actor, found, rollout, size, verlRule } from "../rule.ts";
import { isV1, trainBatch, trainerMode } from "../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

const mode = "trainer.v1.trainer_mode";
const section = "trainer.v1.separate_async";
const [sync, mini, nodes, perNode, backend] = [
  `${section}.parameter_sync_step`,
  `${actor}.ppo_mini_batch_size`,
  `${rollout}.nnodes`,
  `${rollout}.n_gpus_per_node`,
  `${rollout}.checkpoint_engine.backend`,
];

function batch(model: RuleModel): RuleDiagnostic[] {
  const [prompts, steps, part] = [trainBatch, sync, mini].map((key) => size(model, key));
  if (prompts === undefined || steps === undefined || part === undefined || prompts === steps * part)
    return [];
  const fixes = [
    changed(model, trainBatch, steps * part, `${steps} × ${part}`),
    prompts % part === 0
      ? changed(model, sync, prompts / part, `${prompts} = ${prompts / part} × ${part}`)
      : undefined,
    prompts % steps === 0
      ? changed(model, mini, prompts / steps, `${prompts} = ${steps} × ${prompts / steps}`)
      : undefined,
  ];
  const message = `\`${trainBatch}\` ${prompts} is not \`parameter_sync_step\` ${steps} × \`ppo_mini_batch_size\` ${part} = ${steps * part}, which \`separate_async\` requires.`;
  return found(model, [trainBatch, mini, sync, mode], message, { fixes });
}

function servers(model: RuleModel): RuleDiagnostic[] {
  return [nodes, perNode].flatMap((key) => {
    const count = model.number(key);
    if (count === undefined || count > 0) return [];
    const message = `\`separate_async\` generates on its own nodes, but \`${key.replace("actor_rollout_ref.", "")}\` is ${count}.`;
    return found(model, [key, mode], message, { fixes: [setTo(model, key, key === nodes ? 1 : 8)] });
  });
}

function weights(model: RuleModel): RuleDiagnostic[] {
  if (model.text(backend) !== "naive") return [];
  const message =
    "`separate_async` sends the weights over the network, but the `checkpoint_engine.backend` `naive` cannot.";
  return found(model, [backend, mode], message, { fixes: [setTo(model, backend, "nccl")] });
}

function judge(model: RuleModel): RuleDiagnostic[] {
  const [enable, pool] = ["reward.reward_model.enable", "reward.reward_model.enable_resource_pool"];
  if (model.flag(enable) !== true || model.flag(pool) !== false) return [];
  const message =
    "`separate_async` never pauses generation, so a reward model needs its own GPUs: set `reward.reward_model.enable_resource_pool`.";
  return found(model, [pool, enable, mode], message, { fixes: [setTo(model, pool, true)] });
}

function switching(model: RuleModel): RuleDiagnostic[] {
  const [change, split] = [`${section}.hybrid_rollout.enable_switch`, `${rollout}.disaggregation.enabled`];
  if (
    model.flag(change) !== true ||
    model.flag(split) !== true ||
    model.flag("actor_rollout_ref.hybrid_engine") === false
  )
    return [];
  const message =
    "`hybrid_rollout.enable_switch` does not work with `rollout.disaggregation`: verl refuses both together.";
  return found(model, [change, split], message, {
    fixes: [setTo(model, change, false), setTo(model, split, false)],
  });
}

export const separateAsync = verlRule({
  id: "verl-separate-async",
  title: "Separate generation cannot start",
  why: "`PPOTrainerSeparateAsync.__init__` (verl/trainer/ppo/v1/trainer_separate_async.py) asserts that `train_batch_size` = `parameter_sync_step` × `ppo_mini_batch_size`, that generation has nodes and GPUs and a backend that sends weights between machines, and that a reward model has its own pool.",
  since: "0.9.0",
  check: (model) =>
    isV1(model) && trainerMode(model) === "separate_async"
      ? [...batch(model), ...servers(model), ...weights(model), ...judge(model), ...switching(model)]
      : [],
});
