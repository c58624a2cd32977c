import { divisorsNear, gcd, multiplesNear } from "../../arithmetic.ts";
import { changed } from "../../fixes.ts";
import { actor, found, shortName, size, verlRule } from "../../rule.ts";
import { dataParallel, groupSize, hasEngineWorkers, usesCritic, type CountedBy } from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

interface MiniBatchShare {
  readonly key: string;
  readonly mini: number;
  readonly n: number;
  readonly ranks: CountedBy;
}

function ofRole(model: RuleModel, role: string): RuleDiagnostic[] {
  const key = `${role}.ppo_mini_batch_size`;
  const [mini, n, ranks] = [size(model, key), size(model, groupSize), dataParallel(model, role)];
  if (mini === undefined || n === undefined || ranks === undefined) return [];
  const cut = { key, mini, n, ranks };
  if (hasEngineWorkers(model) && (mini * n) % ranks.count !== 0) return indivisible(model, cut);
  if (mini * n < ranks.count) return indivisible(model, cut);
  return model.flag(`${role}.use_dynamic_bsz`) === false
    ? ragged(model, cut, `${role}.ppo_micro_batch_size_per_gpu`)
    : [];
}

function indivisible(model: RuleModel, { key, mini, n, ranks }: MiniBatchShare): RuleDiagnostic[] {
  const unit = ranks.count / gcd(ranks.count, n);
  const fixes = multiplesNear(mini, unit).map((fit) =>
    changed(model, key, fit, `${fit} × ${n} = ${ranks.count} × ${(fit * n) / ranks.count}`),
  );
  const message = `A mini-batch of \`${shortName(key)}\` ${mini} × \`rollout.n\` ${n} = ${mini * n} rollouts is not divisible among ${ranks.count} data-parallel ranks (${ranks.how}).`;
  return found(model, [key, groupSize, ...ranks.keys], message, { fixes });
}

/** The micro-batches of one rank; up to 0.7 the remainder of the division is dropped first. */
function ragged(
  model: RuleModel,
  { key, mini, n, ranks }: MiniBatchShare,
  microKey: string,
): RuleDiagnostic[] {
  const micro = size(model, microKey);
  const share = Math.floor((mini * n) / ranks.count);
  if (micro === undefined || share % micro === 0) return [];
  const fixes = [
    ...divisorsNear(micro, share).map((fit) =>
      changed(model, microKey, fit, `${share} = ${fit} × ${share / fit}`),
    ),
    ...multiplesNear(mini, (micro * ranks.count) / gcd(micro * ranks.count, n)).map((fit) =>
      changed(model, key, fit, `${(fit * n) / ranks.count} a rank`),
    ),
  ];
  const message = `Each of ${ranks.count} data-parallel ranks gets ${mini} × \`rollout.n\` ${n} / ${ranks.count} = ${share} rollouts of a mini-batch, not a multiple of \`${shortName(microKey)}\` ${micro}.`;
  return found(model, [microKey, key, groupSize, ...ranks.keys], message, { fixes });
}

export const miniBatchPerGpu = verlRule({
  id: "verl-mini-batch-per-gpu",
  title: "Mini-batch not divisible among the GPUs",
  why: "A mini-batch of `ppo_mini_batch_size` × `rollout.n` rollouts is cut into one share per data-parallel rank, and each share into micro-batches. `train_mini_batch` (verl/workers/engine_workers.py) and `prepare_micro_batches` (verl/workers/engine/utils.py) assert that both divisions leave no remainder; up to 0.7 `ActorRolloutRefWorker.__init__` (verl/workers/fsdp_workers.py) asserts the second. The run fails after the first generation.",
  check: (model) => [
    ...ofRole(model, actor),
    ...(usesCritic(model) &&
    (model.written("critic.ppo_mini_batch_size") ?? model.written("critic.ppo_micro_batch_size_per_gpu")) !==
      undefined
      ? ofRole(model, "critic")
      : []),
  ],
});
