/** PPO's critic, as far as trainers have it alike: a model of its own that begins as the policy, with its learner. */
import type { StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { nameOf, type SettingsDraft } from "./exportDraft.ts";

export type Learner = StageBody["auxiliary"][number];

export type CriticPlan =
  /** Another baseline. */
  | { readonly kind: "none" }
  /** The trainer's critic cannot be the config's: it has the trainer's defaults. */
  | { readonly kind: "defaults" }
  | {
      readonly kind: "own";
      readonly learner: Learner;
      /** Of the model's optimiser in the config. */
      readonly key: string;
      /** undefined: it has the policy's. */
      readonly optimizer: StageBody["update"]["optimizer"] | undefined;
      /** Parts of the config that the trainer's critic is, by the keys of `blocks`. */
      readonly known: ReadonlySet<string>;
    };

/** @param alone why a value's loss without a critic has no counterpart: a sentence */
export function criticPlan(
  config: RunConfig,
  body: StageBody,
  draft: SettingsDraft,
  alone = `${draft.engine} trains a critic for its estimator \`gae\` alone.`,
): CriticPlan {
  const { baseline } = body.advantage;
  if (nameOf(baseline) !== "critic") {
    const { value } = body.objective;
    if (value !== undefined) draft.miss("objective.value", nameOf(value.loss), alone);
    return { kind: "none" };
  }
  const name = String(baseline.params["model"]);
  const [learner, ...more] = body.auxiliary.filter(
    (one) => nameOf(one.loss) === "learner" && one.loss.params["model"] === name,
  );
  const model = config.models.find((one) => one.name === name);
  const once = more.length === 0 && learner?.loss.params["rollouts"] === "step";
  if (once && model?.kind === "opened" && model.model.base === config.model.base)
    return {
      kind: "own",
      learner,
      key: `models.${name}.optimizer`,
      optimizer: model.optimizer,
      known: new Set(["auxiliary.learner", `models.${name}`]),
    };
  const { engine } = draft;
  draft.miss(
    "advantage.baseline.model",
    name,
    `${engine}'s critic has weights of its own, which begin as the policy's, and learns once a step: it has ${engine}'s defaults.`,
  );
  return { kind: "defaults" };
}
