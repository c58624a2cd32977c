import { gcd, lcm, multiplesNear } from "../../arithmetic.ts";
import { changed } from "../../fixes.ts";
import { actor, found, size, verlRule } from "../../rule.ts";
import { batchOf, dataParallel, engineOf, gpus, groupSize, trainBatch, type CountedBy } from "../../shape.ts";
import type { RuleModel } from "../../../../rules/rule.ts";

/** What a step's rollouts must divide by. */
function least(model: RuleModel): CountedBy | undefined {
  const all = gpus(model);
  if (engineOf(model)?.kind !== "megatron") return all;
  const [shares, key] = [dataParallel(model), `${actor}.ppo_micro_batch_size_per_gpu`];
  const micro = size(model, key);
  if (shares === undefined || micro === undefined) return undefined;
  const how = `${shares.count} data-parallel ranks × \`ppo_micro_batch_size_per_gpu\` ${micro}`;
  return { count: shares.count * micro, how, keys: [key, ...shares.keys] };
}

/** Whole mini-batches too, as long as that is near. */
function roundTo(model: RuleModel, prompts: number, unit: number): number {
  const both = lcm(unit, size(model, `${actor}.ppo_mini_batch_size`) ?? 1);
  return both <= prompts ? both : unit;
}

export const rolloutsPerGpu = verlRule({
  id: "verl-rollouts-per-gpu",
  title: "Rollouts not divisible among the GPUs",
  why: "`validate_config` (verl/utils/config.py) asserts that `data.train_batch_size` × `actor_rollout_ref.rollout.n` is divisible by the number of GPUs; under Megatron, by the data-parallel ranks × `ppo_micro_batch_size_per_gpu`. It does not check this if `use_dynamic_bsz` is on.",
  check(model) {
    const dynamic = model.since("0.6.0") && model.flag(`${actor}.use_dynamic_bsz`) !== false;
    const [batch, step] = [batchOf(model), least(model)];
    if (dynamic || batch === undefined || step === undefined) return [];
    const rollouts = batch.prompts * batch.n;
    if (rollouts % step.count === 0) return [];
    const unit = roundTo(model, batch.prompts, step.count / gcd(step.count, batch.n));
    const fixes = multiplesNear(batch.prompts, unit).map((prompts) =>
      changed(
        model,
        trainBatch,
        prompts,
        `${prompts} × ${batch.n} = ${step.count} × ${(prompts * batch.n) / step.count}`,
      ),
    );
    const message = `A step's ${batch.prompts} prompts × \`rollout.n\` ${batch.n} = ${rollouts} rollouts are not divisible by ${step.count} (${step.how}): ${rollouts % step.count} are left over, so verl refuses to start.`;
    return found(model, [trainBatch, groupSize, ...step.keys], message, { fixes });
  },
});
