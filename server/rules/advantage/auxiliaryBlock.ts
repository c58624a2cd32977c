import type { Path } from "../../config/text/edits.ts";
import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface Setting {
  readonly key: string;
  readonly value: string;
}

/** Keys of an auxiliary loss that its other keys keep from being read. */
export const auxiliaryBlock: Rule = {
  id: "auxiliary",
  title: "Auxiliary loss with a key that is not read",
  why: "A `joined` loss is part of the policy's optimiser steps, so it cannot have an optimiser of its own. `when.all_failed` waits for tasks whose rollouts all failed, to learn their solutions: only `use: sft` with `data: solutions` reads those.",
  check: eachStage((view, model) => {
    view.config.body.auxiliary.forEach(({ place, objective, optimizer, when, loss }, index) => {
      const path = ["auxiliary", String(index)];
      const origin = placeOf(view.body, ...path);
      const ofItem = (key: string): Path => pathIn(view, origin, "auxiliary", index, key);
      const say = (key: string, message: string, sets: Setting): void => {
        reportAt(model, view, auxiliaryBlock, [[...path, key], path], {
          key: [...path, key].join("."),
          message,
          fileFixes: [
            model.edits.set(ofItem(sets.key), sets.value, `Set \`${sets.key}: ${sets.value}\``, false),
            model.edits.remove(ofItem(key), `Remove \`${key}\``, false),
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
  }),
};
