import type { Fix } from "../../config/check/diagnostic.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { eachRlStage, reportAt, type Rule } from "../rule.ts";

/** Success rates that a group of a size can have, inside a band. */
function ratesIn(group: number, low: number, high: number, inclusive: boolean): number[] {
  return Array.from({ length: group + 1 }, (_, right) => right / group).filter((rate) =>
    inclusive ? rate >= low && rate <= high : rate > low && rate < high,
  );
}

/** Some number of successes of a group lies in the band. */
export const bandGroup: Rule = {
  id: "band-group",
  title: "Admission band that no group can reach",
  why: "The success rate of a group of n is a multiple of 1/n. A band that lies between two multiples admits no group, whatever the policy does: the step is refilled up to the limit and trains on nothing.\n\nWiden the band, or make the group larger. With `inclusive: false` the band also excludes the rates at its ends.",
  check: eachRlStage((view, model) => {
    const { curriculum, rollout } = view.config.body;
    const { declaration, params } = curriculum.admission;
    const { low, high, inclusive } = params;
    if (declaration.name !== "success_band") return;
    if (typeof low !== "number" || typeof high !== "number" || low >= high) return;
    if (ratesIn(rollout.group, low, high, inclusive !== false).length > 0) return;
    const band = `${low} to ${high}${inclusive === false ? ", ends excluded" : ""}`;
    const paths = [
      ["curriculum", "admission", "low"],
      ["curriculum", "admission", "high"],
      ["rollout", "group"],
      ["curriculum", "admission"],
    ];
    reportAt(model, view, bandGroup, paths, {
      severity: "warning",
      message: `In a group of ${rollout.group} the success rate is a multiple of 1/${rollout.group}, and none lies in the band of ${band}, so a group is admitted only if some of its rollouts cannot be scored.`,
      fileFixes: [
        larger(model, rollout.group, (group) => ratesIn(group, low, high, inclusive !== false).length > 0),
      ],
    });
  }),
};

function larger(model: ConfigModel, group: number, fits: (group: number) => boolean): Fix | undefined {
  const sizes = Array.from({ length: 63 }, (_, i) => group + 1 + i);
  const size = sizes.find((size) => size % 2 === 0 && fits(size));
  if (size === undefined || model.stages.length > 1) return undefined;
  return model.edits.set(
    ["rollout", "group"],
    String(size),
    `Change \`rollout.group\` to ${size}: a multiple of 1/${size} lies in the band`,
  );
}
