import { comparesSiblings } from "../siblings.ts";
import { mine, placeOf, underneath, type Rule } from "./rule.ts";

export const groupSize: Rule = {
  id: "group-size",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { rollout, advantage } = view.config.body;
      const chosen = [
        ["baseline", advantage.baseline],
        ["scale", advantage.scale],
      ] as const;
      const [found] = chosen.filter(([, choice]) => comparesSiblings(choice));
      if (view.config.kind !== "rl" || rollout.group !== 1 || found === undefined) continue;
      const [what, { declaration }] = found;
      const at =
        mine(file, placeOf(view.body, "rollout", "group"), placeOf(view.body, "advantage", what)) ??
        root.origin;
      const message = `With \`rollout.group\` 1 the ${what} \`${declaration.name}\` leaves every advantage 0, so nothing is learned: use a group of at least 2, or \`advantage.${what}: none\`.`;
      report({ rule: groupSize.id, message, key: underneath(view, at, "rollout.group"), at });
    }
  },
};
