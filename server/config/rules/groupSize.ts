import { mine, placeOf, underneath, type Rule } from "./rule.ts";

/** Baselines that compare a rollout with the others of its group. */
const compare = new Set(["group_mean", "leave_one_out"]);

export const groupSize: Rule = {
  id: "group-size",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { rollout, advantage } = view.config.body;
      const baseline = advantage.baseline.declaration.name;
      if (view.config.kind !== "rl" || rollout.group !== 1 || !compare.has(baseline)) continue;
      const at = mine(file, placeOf(view.body, "rollout", "group"), placeOf(view.body, "advantage", "baseline")) ?? root.origin;
      const message = `With \`rollout.group\` 1 the baseline \`${baseline}\` leaves every advantage 0, so nothing is learned: use a group of at least 2, or \`advantage.baseline: none\`.`;
      report({ rule: groupSize.id, message, key: underneath(view, at, "rollout.group"), at });
    }
  },
};
