/** PPO's critic: a model of its own with its learner. The mirror image of `convert/verlCritic.ts`. */
import type { StageBody } from "../../../core/config/resolved.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { nameOf } from "../draft.ts";
import { promptsOf, type Batch } from "./batch.ts";
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
  const { baseline } = body.advantage;
  if (nameOf(baseline) !== "critic") return noCritic(body, draft);
  const name = String(baseline.params["model"]);
  const [learner, ...more] = body.auxiliary.filter(
    (one) => nameOf(one.loss) === "learner" && one.loss.params["model"] === name,
  );
  const model = config.models.find((one) => one.name === name);
  const fits =
    learner !== undefined &&
    more.length === 0 &&
    learner.loss.params["rollouts"] === "step" &&
    model?.kind === "opened" &&
    model.model.base === config.model.base;
  if (!fits || learner === undefined || model?.kind !== "opened") {
    draft.miss(
      "advantage.baseline.model",
      name,
      "verl's critic has weights of its own, which begin as the policy's, and learns once a step: it has verl's defaults.",
    );
    return new Set();
  }
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
  optimizer("critic.optim", `models.${name}.optimizer`, model.optimizer ?? body.update.optimizer, draft);
  return new Set(["auxiliary.learner", `models.${name}`]);
}

function lossOf(learner: StageBody["auxiliary"][number], draft: VerlDraft): void {
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

/** Another estimator has none. */
function noCritic({ objective }: StageBody, draft: VerlDraft): ReadonlySet<string> {
  if (objective.value !== undefined)
    draft.miss(
      "objective.value",
      nameOf(objective.value.loss),
      "verl trains a critic for its estimator `gae` alone.",
    );
  return new Set();
}

/** The critic begins as the policy. */
export const criticModel = "critic.model.path";
export const policyModel = `${modelSection}.path`;
