import { changed } from "../../fixes.ts";
import { actor, found, shortName, size, verlRule } from "../../rule.ts";
import { trainBatch, usesCritic } from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

function ofRole(model: RuleModel, role: string): RuleDiagnostic[] {
  const key = `${role}.ppo_mini_batch_size`;
  const [mini, prompts] = [size(model, key), size(model, trainBatch)];
  if (model.flag(`${role}.use_dynamic_bsz`) !== false) return [];
  if (mini === undefined || prompts === undefined || prompts >= mini) return [];
  const fixes = [changed(model, key, prompts), changed(model, trainBatch, mini)];
  const message = `\`${shortName(key)}\` ${mini} is more than the ${prompts} prompts of a step (\`${trainBatch}\`), which verl refuses. Both count prompts, before the multiplication by \`rollout.n\`.`;
  return found(model, [key, trainBatch], message, { fixes });
}

export const miniBatchSize = verlRule({
  id: "verl-mini-batch-size",
  title: "Mini-batch larger than the batch",
  why: "`ActorConfig.validate` and `CriticConfig.validate` (verl/workers/config/actor.py, critic.py) refuse a `train_batch_size` below `ppo_mini_batch_size`. Both count prompts. They do not check this if `use_dynamic_bsz` is on.",
  check: (model) => [
    ...ofRole(model, actor),
    // The critic takes the actor's unless it has its own.
    ...(usesCritic(model) && model.written("critic.ppo_mini_batch_size") !== undefined
      ? ofRole(model, "critic")
      : []),
  ],
});
