/** PPO's critic: a model of its own with its learner. The mirror image of `convert/skyrl/index.ts`. */
import type { StageBody } from "../../../core/config/resolved.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { nameOf } from "../draft.ts";
import { promptsOf, type Batch } from "./batch.ts";
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
  // It is checked with the batch also where it has defaults.
  draft.set("trainer.critic_mini_batch_size", batch.mini);
  if (!fits || learner === undefined || model?.kind !== "opened") {
    draft.miss(
      "advantage.baseline.model",
      name,
      "SkyRL's critic has weights of its own, which begin as the policy's, and learns once a step: it has SkyRL's defaults.",
    );
    return new Set();
  }
  rounds(learner.loss.params, body, batch, draft);
  lossOf(learner, draft);
  const place = `${section}.optimizer_config`;
  optimizer(place, `models.${name}.optimizer`, model.optimizer ?? body.update.optimizer, draft);
  return new Set(["auxiliary.learner", `models.${name}`]);
}

type Learner = StageBody["auxiliary"][number];

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

/** Another estimator has none. */
function noCritic({ objective }: StageBody, draft: SkyrlDraft): ReadonlySet<string> {
  if (objective.value !== undefined)
    draft.miss(
      "objective.value",
      nameOf(objective.value.loss),
      "The exported trainer has a critic for SkyRL's estimator `gae` alone.",
    );
  return new Set();
}

/** The critic begins as the policy. */
export const criticModel = `${section}.model.path`;
export const policyModel = `${policy}.model.path`;
