import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Objectives whose range bounds the ratio, and the keys that say so. */
const ranges: Readonly<Record<string, readonly string[]>> = {
  clipped: ["low", "high", "dual", "delta"],
  cispo: ["low", "high"],
  geo_mean: ["low", "high"],
};

/** Whether the policy that trains is, at each update, the one that wrote all of its rollouts. */
function isFresh({ config: { model } }: ConfigModel, { config: { body } }: StageView): boolean {
  const { rollout, update, replay, objective } = body;
  const all = rollout.prompts * rollout.group;
  return (
    update.epochs === 1 &&
    (update.mini_batch ?? all) >= all &&
    replay.source.declaration.name === "none" &&
    // Dropout makes the model that trains another one than that which wrote.
    (model.adapter?.dropout ?? 0) === 0 &&
    // The ratio is against what wrote the rollouts, at temperature 1.
    !["reference", "sampled"].includes(String(objective.loss.params["anchor"]))
  );
}

/** A clip range has something to clip. */
export const idleClip: Rule = {
  id: "idle-clip",
  title: "Clip that never acts",
  why: "The ratio compares the policy with the one that generated the rollouts. With one update per step on fresh rollouts their weights are the same: every ratio is 1, inside every range, and the loss is the plain policy gradient (Schulman et al., Proximal Policy Optimization Algorithms, clip because they take several epochs over one batch). The clip range in the config has no effect.\n\nIf the range is meant to act, split the step into several updates with `update.mini_batch`, or take several passes with `update.epochs`; otherwise remove it.",
  check: eachRlStage((view, model) => {
    const { objective, rollout } = view.config.body;
    const keys = ranges[objective.loss.declaration.name] ?? [];
    const written = keys.filter((key) => isOwn(placeOf(view.body, "objective", key)));
    if (written.length === 0 || !isFresh(model, view)) return;
    const all = rollout.prompts * rollout.group;
    const half = rollout.prompts % 2 === 0 ? all / 2 : undefined;
    reportAt(
      model,
      view,
      idleClip,
      written.map((key) => ["objective", key]),
      {
        severity: "info",
        message: `Each step is one update on rollouts of the same policy, so every ratio is 1 and ${written.map((key) => `\`${key}\``).join(" and ")} never ${written.length === 1 ? "acts" : "act"}.`,
        tags: ["unnecessary"],
        fileFixes:
          half === undefined || placeOf(view.body, "update", "mini_batch")?.layer === "file"
            ? []
            : [
                model.edits.set(
                  ["update", "mini_batch"],
                  String(half),
                  `Train in two updates: \`mini_batch: ${half}\` (= ${rollout.prompts} prompts × ${rollout.group} rollouts / 2)`,
                  false,
                ),
              ],
      },
    );
  }),
};
