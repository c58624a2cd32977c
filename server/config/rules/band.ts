import { mine, placeOf, underneath, type Rule } from "./rule.ts";

export const band: Rule = {
  id: "band",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { declaration, params } = view.config.body.curriculum.admission;
      const { low, high } = params;
      if (
        declaration.name !== "success_band" ||
        typeof low !== "number" ||
        typeof high !== "number" ||
        low < high
      )
        continue;
      const at =
        mine(
          file,
          placeOf(view.body, "curriculum", "admission", "low"),
          placeOf(view.body, "curriculum", "admission", "high"),
        ) ?? root.origin;
      const message = `The band is empty: \`low\` ${low} is not below \`high\` ${high}, so no group would be admitted.`;
      const high_ = placeOf(view.body, "curriculum", "admission", "high") === at;
      report({
        rule: band.id,
        message,
        key: underneath(view, at, `curriculum.admission.${high_ ? "high" : "low"}`),
        at,
      });
    }
  },
};
