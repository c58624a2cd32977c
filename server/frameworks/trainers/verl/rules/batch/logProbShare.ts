import { divisorsNear, lcm } from "../../arithmetic.ts";
import { changed } from "../../fixes.ts";
import { actor, found, ref, rollout, shortName, size, verlRule } from "../../rule.ts";
import {
  batchOf,
  dataParallel,
  groupSize,
  isV1,
  trainBatch,
  trainerMode,
  usesCritic,
  usesReference,
} from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

/** Rollouts that a rank scores at once; undefined where that is not known before generating. */
function share(model: RuleModel, ranks: number): number | undefined {
  const batch = batchOf(model);
  // A conversation may come back as several samples, and asynchronous trainers take what is there.
  if (batch === undefined || model.flag(`${rollout}.multi_turn.enable`) !== false) return undefined;
  const rollouts = batch.prompts * batch.n;
  if (!isV1(model)) return rollouts % ranks === 0 ? rollouts / ranks : undefined;
  if (trainerMode(model) !== "sync" || usesCritic(model)) return undefined;
  const mini = size(model, `${actor}.ppo_mini_batch_size`);
  if (mini === undefined) return undefined;
  const multiple = lcm(ranks, mini * batch.n);
  return (Math.ceil(rollouts / multiple) * multiple) / ranks;
}

function ofSection(model: RuleModel, section: string, samples: number, ranks: number): RuleDiagnostic[] {
  const key = `${section}.log_prob_micro_batch_size_per_gpu`;
  const micro = size(model, key);
  if (
    model.flag(`${section}.log_prob_use_dynamic_bsz`) !== false ||
    micro === undefined ||
    samples % micro === 0
  )
    return [];
  const fixes = divisorsNear(micro, samples).map((fit) =>
    changed(model, key, fit, `${samples} = ${fit} × ${samples / fit}`),
  );
  const message = `Each of ${ranks} data-parallel ranks scores ${samples} rollouts of a step, not a multiple of \`${shortName(key)}\` ${micro}.`;
  return found(model, [key, trainBatch, groupSize], message, { fixes });
}

export const logProbShare = verlRule({
  id: "verl-log-prob-share",
  title: "Scoring not divisible into micro-batches",
  why: "verl computes log-probabilities for a rank's whole share of a step. `prepare_micro_batches` (verl/workers/engine/utils.py) asserts, after the first generation, that the share is divisible by `log_prob_micro_batch_size_per_gpu`. Since 0.9 verl first pads the share to whole mini-batches.",
  since: "0.8.0",
  check(model) {
    const ranks = dataParallel(model)?.count;
    const samples = ranks === undefined ? undefined : share(model, ranks);
    if (ranks === undefined || samples === undefined) return [];
    const skipped = isV1(model) && model.flag("algorithm.rollout_correction.bypass_mode") === true;
    return [...(skipped ? [] : [rollout]), ...(usesReference(model) ? [ref] : [])].flatMap((section) =>
      ofSection(model, section, samples, ranks),
    );
  },
});
