/** PPO's critic: a model of its own with its learner. The mirror image of `convert/skyrl/index.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { criticPlan, type Learner } from "../../../lens/criticPlan.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import { promptsOf, type Batch } from "../../../lens/groupBatch.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm, critic as section, policy } from "./keys.ts";
import { optimizer } from "./update.ts";

/** Parts of a config that SkyRL's critic is, by the keys of `blocks`. */
export function critic(
  config: RunConfig,
  body: StageBody,
  batch: Batch,
  draft: SkyrlDraft,
): ReadonlySet<string> {
  const alone = "The exported trainer has a critic for SkyRL's estimator `gae` alone.";
  const plan = criticPlan(config, body, draft, alone);
  if (plan.kind === "none") return new Set();
  // It is checked with the batch also where it has defaults.
  draft.set("trainer.critic_mini_batch_size", batch.mini);
  if (plan.kind === "defaults") return new Set();
  const { learner, key, optimizer: own = body.update.optimizer, known } = plan;
  rounds(learner.loss.params, body, batch, draft);
  lossOf(learner, draft);
  optimizer(`${section}.optimizer_config`, key, own, draft);
  return known;
}

function rounds(params: Learner["loss"]["params"], body: StageBody, batch: Batch, draft: SkyrlDraft): void {
  const wanted = Math.min(Number(params["rows"]), batch.prompts * batch.group);
  const prompts = promptsOf(wanted, batch);
  if (prompts * batch.group !== wanted)
    draft.miss(
      "auxiliary.rows",
      params["rows"],
      `SkyRL's updates have whole groups: ${prompts * batch.group} rollouts.`,
    );
  draft.set("trainer.critic_mini_batch_size", prompts);
  if (params["updates"] !== body.update.epochs)
    draft.miss(
      "auxiliary.updates",
      params["updates"],
      "SkyRL's critic goes over a step's rollouts as often as the policy does: `update.epochs` times.",
    );
}

function lossOf({ objective, loss }: Learner, draft: SkyrlDraft): void {
  if (loss.params["each"] !== "rollout")
    draft.miss("auxiliary.each", loss.params["each"], "SkyRL's critic counts its rollouts alike.");
  if (objective === undefined || nameOf(objective) === "value_clipped") {
    const clip = objective?.params["clip"];
    return draft.set(`${algorithm}.value_clip`, typeof clip === "number" ? clip : 1e9);
  }
  draft.miss("auxiliary.objective", nameOf(objective), "SkyRL's critic learns by the clipped squared error.");
}

/** The critic begins as the policy. */
export const criticModel = `${section}.model.path`;
export const policyModel = `${policy}.model.path`;
