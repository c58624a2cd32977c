import type { Fix } from "../../config/check/diagnostic.ts";
import type { SourceEdits } from "../../config/text/edits.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Methods that take what lies between `low` and `high`, by slot; what an empty band comes to; the ends of its range. */
const bands = {
  admission: { use: "success_band", then: "no group would be admitted", ends: [0, 1] },
  sampler: { use: "band", then: "no arm could lie in it", ends: undefined },
} as const;
type Slot = keyof typeof bands;

export const band: Rule = {
  id: "band",
  title: "Empty band",
  why: "`admission: success_band` admits groups whose share of successes lies between `low` and `high`, and `sampler: band` draws arms whose estimate does. If `low` is not below `high`, no group is admitted and no step ever trains, or no arm lies in the band.\n\nDAPO's dynamic sampling is `low: 0, high: 1, inclusive: false` (Yu et al., DAPO).",
  check: eachStage((view, model) => {
    for (const slot of ["admission", "sampler"] as const) inspect(model, view, slot);
  }),
};

function inspect(model: ConfigModel, view: StageView, slot: Slot): void {
  const { declaration, params } = view.config.body.curriculum[slot];
  const { low, high } = params;
  const { use, then } = bands[slot];
  if (declaration.name !== use || typeof low !== "number" || typeof high !== "number" || low < high) return;
  const path = ["curriculum", slot];
  reportAt(
    model,
    view,
    band,
    [
      [...path, "low"],
      [...path, "high"],
    ],
    {
      message: `The band is empty: \`low\` ${low} is not below \`high\` ${high}, so ${then}.`,
      fileFixes: swapped(model.edits, view, slot, [low, high]),
    },
  );
}

/** Ends in the wrong order change places; of equal ones one is opened. */
function swapped(
  edits: SourceEdits,
  view: StageView,
  slot: Slot,
  [low, high]: readonly [number, number],
): (Fix | undefined)[] {
  const path = (key: string): ReturnType<typeof pathIn> =>
    pathIn(view, placeOf(view.body, "curriculum", slot, key), "curriculum", slot, key);
  const { ends } = bands[slot];
  if (low === high)
    return ends === undefined
      ? []
      : [
          high < ends[1] ? edits.set(path("high"), "1", "Open it upwards: `high: 1`", false) : undefined,
          low > ends[0] ? edits.set(path("low"), "0", "Open it downwards: `low: 0`", false) : undefined,
        ];
  const title = `Swap them: \`low: ${high}\`, \`high: ${low}\``;
  const [first, second] = [
    edits.set(path("low"), String(high), title),
    edits.set(path("high"), String(low), title),
  ];
  return [first && second && { title, edits: [...first.edits, ...second.edits], preferred: true }];
}
