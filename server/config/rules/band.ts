import type { Fix } from "../diagnostic.ts";
import type { SourceEdits } from "../edits.ts";
import { mine, pathIn, placeOf, underneath, type Rule, type StageView } from "./rule.ts";

export const band: Rule = {
  id: "band",
  title: "Admission band that is empty",
  why: "`success_band` admits groups whose share of successes lies between `low` and `high`. Where `low` is not below `high` no group is admitted, and no step ever trains.\n\nDAPO's dynamic sampling is `low: 0, high: 1, inclusive: false` (Yu et al., DAPO).",
  check({ stages, file, root, report, edits }) {
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
        mends: swapped(edits, view, low, high),
      });
    }
  },
};

/** Ends in the wrong order change places; of equal ones one is opened. */
function swapped(edits: SourceEdits, view: StageView, low: number, high: number): (Fix | undefined)[] {
  const path = (key: string): ReturnType<typeof pathIn> =>
    pathIn(view, placeOf(view.body, "curriculum", "admission", key), "curriculum", "admission", key);
  if (low === high)
    return [
      high < 1 ? edits.set(path("high"), "1", "Open it upwards: `high: 1`", false) : undefined,
      low > 0 ? edits.set(path("low"), "0", "Open it downwards: `low: 0`", false) : undefined,
    ];
  const title = `Swap them: \`low: ${high}\`, \`high: ${low}\``;
  const [first, second] = [
    edits.set(path("low"), String(high), title),
    edits.set(path("high"), String(low), title),
  ];
  return [first && second && { title, edits: [...first.edits, ...second.edits], preferred: true }];
}
