/** PPO's critic: a model of its own with its learner. The mirror image of `critic` in `convert/openrlhf.ts`. */
import type { StageBody } from "../../../core/config/resolved.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { nameOf } from "../draft.ts";
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
  const { baseline } = body.advantage;
  if (nameOf(baseline) !== "critic") return noCritic(body, draft);
  const name = String(baseline.params["model"]);
  const [learner, ...more] = body.auxiliary.filter(
    (one) => nameOf(one.loss) === "learner" && one.loss.params["model"] === name,
  );
  const model = config.models.find((one) => one.name === name);
  const fits = more.length === 0 && learner?.loss.params["rollouts"] === "step";
  if (!fits || learner === undefined || model?.kind !== "opened" || model.model.base !== config.model.base) {
    draft.miss(
      "advantage.baseline.model",
      name,
      "OpenRLHF's critic has weights of its own, which begin as the policy's, and learns once a step: it has OpenRLHF's defaults.",
    );
    return new Set();
  }
  rounds(learner, body, batch, draft);
  lossOf(learner, draft);
  const key = `models.${name}.optimizer`;
  optimizer("critic", key, model.optimizer ?? body.update.optimizer, draft);
  // A model with an optimiser of its own does not follow the policy's learning rate.
  if (model.optimizer === undefined) policyCourse("critic", body, batch, draft);
  else steady("critic", model.optimizer, batch, draft);
  return new Set(["auxiliary.learner", `models.${name}`]);
}

type Learner = StageBody["auxiliary"][number];

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

/** Another estimator has none. */
function noCritic({ objective }: StageBody, draft: OpenRlhfDraft): ReadonlySet<string> {
  if (objective.value !== undefined)
    draft.miss(
      "objective.value",
      nameOf(objective.value.loss),
      "OpenRLHF trains a critic for its estimator `gae` alone.",
    );
  return new Set();
}
