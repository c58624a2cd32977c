/** PPO's critic: a model of its own with its learner. The mirror image of `critic` in `convert/openrlhf.ts`. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { criticPlan, type Learner } from "../../../lens/criticPlan.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { Batch } from "./batch.ts";
import type { OpenRlhfDraft } from "./draft.ts";
import { optimizer, policyCourse, steady } from "./update.ts";

/** A bound that no value reaches: OpenRLHF always has one. */
const noClip = 1e9;

/** Parts of a config that OpenRLHF's critic is, by the keys of `blocks`. */
export function critic(
  config: RunConfig,
  body: StageBody,
  batch: Batch,
  draft: OpenRlhfDraft,
): ReadonlySet<string> {
  const plan = criticPlan(config, body, draft);
  if (plan.kind !== "own") return new Set();
  const { learner, key, optimizer: own, known } = plan;
  rounds(learner, body, batch, draft);
  lossOf(learner, draft);
  optimizer("critic", key, own ?? body.update.optimizer, draft);
  // A model with an optimiser of its own does not follow the policy's learning rate.
  if (own === undefined) policyCourse("critic", body, batch, draft);
  else steady("critic", own, batch, draft);
  return known;
}

/** It learns in the policy's mini-batches and rounds. */
function rounds(
  { loss: { params } }: Learner,
  { update }: StageBody,
  batch: Batch,
  draft: OpenRlhfDraft,
): void {
  const rows = Math.min(Number(params["rows"]), batch.prompts * batch.group);
  if (rows !== batch.mini)
    draft.miss(
      "auxiliary.rows",
      rows,
      `OpenRLHF's critic learns from ${batch.mini} rollouts at once, as the policy.`,
    );
  if (Number(params["updates"]) !== update.epochs)
    draft.miss(
      "auxiliary.updates",
      params["updates"],
      `OpenRLHF's critic goes over the rollouts as often as the policy: ${update.epochs} times.`,
    );
}

function lossOf({ objective, loss }: Learner, draft: OpenRlhfDraft): void {
  const { each } = loss.params;
  if (each !== "token") draft.miss("auxiliary.each", each, "OpenRLHF's critic counts its tokens alike.");
  const clip = objective?.params["clip"];
  draft.set("critic.value_clip", typeof clip === "number" ? clip : noClip);
  if (objective !== undefined && nameOf(objective) !== "value_clipped")
    draft.miss(
      "auxiliary.objective",
      nameOf(objective),
      "OpenRLHF's critic learns by the clipped squared error.",
    );
}
