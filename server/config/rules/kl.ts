import { join } from "../node.ts";
import { unknownName } from "../report.ts";
import { languageModels } from "../resolved.ts";
import { at as nodeAt, mine, underneath, type Rule } from "./rule.ts";

export const klModel: Rule = {
  id: "kl-model",
  check({ config, stages, file, root, report }) {
    const known = [...new Set(["reference", ...languageModels(config)])];
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
