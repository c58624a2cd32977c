import { at as nodeAt, mine, pathIn, placeOf, underneath, type Rule } from "../rule.ts";

interface Setting {
  readonly key: string;
  readonly value: string;
}

/** Keys of an auxiliary loss that its other keys keep from being read. */
export const auxiliaryBlock: Rule = {
  id: "auxiliary",
  title: "Auxiliary loss with a key that is not read",
  why: "A `joined` loss is part of the policy's optimiser steps, so it cannot have an optimiser of its own. `when.all_failed` waits for tasks whose rollouts all failed, to learn their solutions: only `use: sft` with `data: solutions` reads those.",
  check({ stages, file, root, report, edits }) {
    for (const view of stages) {
      const list = nodeAt(view.body, "auxiliary");
      view.config.body.auxiliary.forEach(({ place, objective, optimizer, when, loss }, index) => {
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const say = (key: string, message: string, sets: Setting): void => {
          const at = mine(file, placeOf(item, key), item?.origin) ?? root.origin;
          report({
            rule: auxiliaryBlock.id,
            message,
            key: underneath(view, at, `auxiliary.${index}.${key}`),
            at,
            fileFixes: [
              edits.set(
                pathIn(view, item?.origin, "auxiliary", index, sets.key),
                sets.value,
                `Set \`${sets.key}: ${sets.value}\``,
                false,
              ),
              edits.remove(pathIn(view, item?.origin, "auxiliary", index, key), `Remove \`${key}\``, false),
            ],
          });
        };
        if (optimizer !== undefined && place === "joined")
          say(
            "optimizer",
            "A joined loss is part of the policy's optimiser steps: `optimizer` needs `place: alone`.",
            { key: "place", value: "alone" },
          );
        if (objective !== undefined && loss.declaration.name !== "learner")
          say("objective", "Only a learner has an objective of its own: it needs `use: learner`.", {
            key: "use",
            value: "learner",
          });
        if (when !== "always" && when.all_failed !== undefined && loss.params["data"] !== "solutions")
          say(
            "when",
            "`all_failed` waits for tasks whose rollouts all failed, to learn their solutions: it needs `use: sft` with `data: solutions`.",
            { key: "data", value: "solutions" },
          );
      });
    }
  },
};
