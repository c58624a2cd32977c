import { setTo } from "../../fixes.ts";
import { actor, found, isNull, rollout, shortName, verlRule } from "../../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const [training, scoring] = [`${actor}.use_dynamic_bsz`, `${rollout}.log_prob_use_dynamic_bsz`];

function unequal(model: RuleModel): RuleDiagnostic[] {
  const [train, score] = [model.flag(training), model.flag(scoring)];
  if (train === undefined || score === undefined || train === score) return [];
  const key = model.written(scoring) === undefined ? training : scoring;
  const message = `\`${shortName(training)}\` is ${train} and \`${shortName(scoring)}\` is ${score}, but the workers assert that they are equal. Unset, the second follows the first.`;
  return found(model, [key, training, scoring], message, {
    fixes: [setTo(model, key, key === scoring ? train : score)],
  });
}

function unbounded(model: RuleModel): RuleDiagnostic[] {
  if (model.flag(training) !== true) return [];
  return [`${actor}.ppo_max_token_len_per_gpu`, `${rollout}.log_prob_max_token_len_per_gpu`]
    .filter((key) => isNull(model, key) && model.written(key) !== undefined)
    .flatMap((key) =>
      found(
        model,
        [key],
        `\`${shortName(key)}\` is null, but \`${shortName(training)}\` is on: dynamic batches need the number of tokens per GPU.`,
      ),
    );
}

export const dynamicBatch = verlRule({
  id: "verl-dynamic-batch",
  title: "Inconsistent dynamic batches",
  why: "`ActorRolloutRefWorker.init_model` (verl/workers/engine_workers.py) asserts that `actor.use_dynamic_bsz` equals `rollout.log_prob_use_dynamic_bsz`, and that both token bounds are set if they are on. The assertions have no message.",
  since: "0.8.0",
  check: (model) => [...unequal(model), ...unbounded(model)],
});
