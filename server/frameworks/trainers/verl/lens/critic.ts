/** verl's critic. */
import { setCritic } from "../../../lens/critic.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import { modelName, stoodIn } from "../../../lens/paths.ts";
import type { Settings } from "../../../lens/settings.ts";

/** The critic inherits the actor's values for unset keys, including its weights. */
export function verlCritic(
  settings: Settings,
  draft: ConfigDraft,
  { prompts, n, mini }: { readonly prompts: number; readonly n: number; readonly mini: number },
): void {
  const named = settings.has("critic.model.path") ? "critic.model.path" : "actor_rollout_ref.model.path";
  const base = modelName(settings, named);
  const aggregate =
    settings.text("critic.loss_agg_mode") ?? settings.text("actor_rollout_ref.actor.loss_agg_mode");
  if (aggregate !== "token-mean" && aggregate !== "seq-mean-token-mean")
    settings.refuse("critic.loss_agg_mode", "a critic's loss is the mean of its tokens or of its rollouts");
  const optim = "critic.optim";
  setCritic(draft, {
    model:
      base === undefined
        ? stoodIn(settings.need("data.max_prompt_length"), settings.need("data.max_response_length"))
        : { base },
    optimizer: {
      lr: settings.need(`${optim}.lr`),
      betas: [...(settings.list(`${optim}.betas`) ?? [0.9, 0.999])],
      weight_decay: settings.need(`${optim}.weight_decay`),
      clip_norm: settings.number(`${optim}.clip_grad`) ?? settings.need("critic.grad_clip"),
    },
    clip: settings.need("critic.cliprange_value"),
    each: aggregate === "seq-mean-token-mean" ? "rollout" : "token",
    rows: Math.min(settings.number("critic.ppo_mini_batch_size") ?? mini, prompts) * n,
    rounds: settings.number("critic.ppo_epochs") ?? settings.need("actor_rollout_ref.actor.ppo_epochs"),
  });
}
