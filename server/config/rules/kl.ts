import { join } from "../node.ts";
import { unknownName } from "../report.ts";
import { at as nodeAt, mine, underneath, type Rule } from "./rule.ts";

/**
 * Models that every run has: the policy as it entered, as it generated, and as the step found it (under the two names
 * that papers have for that).
 */
const always = ["reference", "behaviour", "proximal", "previous"];

export const klModel: Rule = {
  id: "kl-model",
  check({ config, stages, file, root, report }) {
    const known = [...new Set([...always, ...config.models.map(({ name }) => name)])];
    for (const view of stages) {
      const list = nodeAt(view.body, "kl");
      for (const [index, { model }] of view.config.body.kl.entries()) {
        if (known.includes(model)) continue;
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const at = mine(file, nodeAt(item, "model")?.origin, item?.origin) ?? root.origin;
        const { hint, fixes } = unknownName(model, known, at);
        report({
          rule: klModel.id,
          message: `There is no model \`${model}\` to measure against. ${hint}`,
          key: underneath(view, at, join(`kl.${index}`, "model")),
          at,
          fixes,
        });
      }
    }
  },
};

/** A divergence over the whole vocabulary is a part of the loss, and needs a model that can be asked for it. */
export const klFull: Rule = {
  id: "kl-full",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const list = nodeAt(view.body, "kl");
      for (const [index, { estimator, place, model }] of view.config.body.kl.entries()) {
        if (estimator.declaration.name !== "full") continue;
        const stored = ["behaviour", "proximal", "previous"].includes(model);
        if (place === "loss" && !stored) continue;
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const key = place === "reward" ? "place" : "model";
        const at = mine(file, nodeAt(item, key)?.origin, item?.origin) ?? root.origin;
        report({
          rule: klFull.id,
          message:
            place === "reward"
              ? "The full divergence is a part of the loss: write `place: loss`, or the estimator k1, k2 or k3."
              : `Of \`${model}\` only log-probs of the sampled tokens are known: choose the estimator k1, k2 or k3, or another model.`,
          key: underneath(view, at, join(`kl.${index}`, key)),
          at,
        });
      }
    }
  },
};

/** Recorded advantages are final: what would scale them is not read. */
export const givenBaseline: Rule = {
  id: "given-baseline",
  check({ config, file, root, report }) {
    if (
      config.top.advantage.baseline.declaration.name !== "given" ||
      config.top.advantage.scale.declaration.name === "none"
    )
      return;
    const scale = nodeAt(root, "advantage", "scale")?.origin;
    if (scale === undefined || scale.layer === "default") return;
    report({
      rule: givenBaseline.id,
      severity: "info",
      message: "With `baseline: given` the recorded advantages are used as they are: `scale` is not read.",
      key: "advantage.scale",
      at: mine(file, scale) ?? root.origin,
    });
  },
};
