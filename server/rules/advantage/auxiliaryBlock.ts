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
  why: "A `joined` loss is part of the policy's optimiser steps, so it cannot have an optimiser of its own. `when.all_failed` waits for tasks whose rollouts all failed, to learn their solutions: only `use: sft` with `data: solutions` reads those. Only a learner and an author have an `objective` of their own, and only an author further losses (`also`).",
  check: eachStage((view, model) => {
    view.config.body.auxiliary.forEach(({ place, objective, also, optimizer, when, loss }, index) => {
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
      const { name } = loss.declaration;
      if (objective !== undefined && name !== "learner" && name !== "author")
        say(
          "objective",
          "Only a learner or an author has an objective of its own: it needs `use: learner` or `author`.",
          { key: "use", value: "learner" },
        );
      if (also.length > 0 && name !== "author")
        say("also", "Only an author has further losses: it needs `use: author`.", {
          key: "use",
          value: "author",
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
