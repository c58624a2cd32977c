/** PPO's critic: a model of its own with its learner. The mirror image of `convert/verlCritic.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { criticPlan, type Learner } from "../../../lens/criticPlan.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import { promptsOf, type Batch } from "../../../lens/groupBatch.ts";
import type { VerlDraft } from "./draft.ts";
import { model as modelSection } from "./keys.ts";
import { optimizer } from "./update.ts";

/** Parts of a config that verl's critic is, by the keys of `blocks`. */
export function critic(
  config: RunConfig,
  body: StageBody,
  batch: Batch,
  draft: VerlDraft,
): ReadonlySet<string> {
  const plan = criticPlan(config, body, draft);
  if (plan.kind !== "own") return new Set();
  const { learner, key, optimizer: own = body.update.optimizer, known } = plan;
  const { params } = learner.loss;
  const rows = promptsOf(Math.min(Number(params["rows"]), batch.prompts * batch.group), batch);
  if (rows * batch.group !== Math.min(Number(params["rows"]), batch.prompts * batch.group))
    draft.miss(
      "auxiliary.rows",
      params["rows"],
      `verl's updates have whole groups: ${rows * batch.group} rollouts.`,
    );
  draft.set("critic.ppo_mini_batch_size", rows);
  draft.set("critic.ppo_epochs", Number(params["updates"]));
  lossOf(learner, draft);
  optimizer("critic.optim", key, own, draft);
  return known;
}

function lossOf(learner: Learner, draft: VerlDraft): void {
  const { objective, loss } = learner;
  const each = loss.params["each"];
  if (each === "token" || each === "rollout")
    draft.set("critic.loss_agg_mode", each === "token" ? "token-mean" : "seq-mean-token-mean");
  else draft.miss("auxiliary.each", each, "verl's critic counts its tokens, or its rollouts, alike.");
  if (objective === undefined || nameOf(objective) === "value_clipped") {
    const clip = objective?.params["clip"];
    return draft.set("critic.cliprange_value", typeof clip === "number" ? clip : 1e9);
  }
  draft.miss("auxiliary.objective", nameOf(objective), "verl's critic learns by the clipped squared error.");
}

/** The critic begins as the policy. */
export const criticModel = "critic.model.path";
export const policyModel = `${modelSection}.path`;
