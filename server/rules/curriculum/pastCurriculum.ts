import { resolve } from "node:path";
import { isReadable, sibling, unusable } from "../nearFile.ts";
import { firstTime, mine, placeOf, tell, type Rule } from "../rule.ts";

/** Files of past curricula exist. A run that goes on has what it needs of them in its checkpoint: no error. */
export const pastCurriculum: Rule = {
  id: "past-curriculum",
  title: "Past curricula that are not there",
  why: "`curriculum.sampler.from` names files of what earlier runs' curricula were, as `gradus runs export RUN --to curriculum` writes them. A path starts from the folder of the file that writes it. A new run ends at its first step without them; one that is resumed has in its checkpoint what it needs.",
  check(model) {
    const { stages, file, root } = model;
    const fresh = firstTime();
    for (const view of stages) {
      const { sampler } = view.config.body.curriculum;
      const { from } = sampler.params;
      if (!Array.isArray(from) || !fresh(sampler)) continue;
      from.forEach((written: unknown, i) => {
        if (typeof written !== "string") return;
        const absolute = resolve(sampler.folder, written);
        if (isReadable(absolute)) return;
        const path = ["curriculum", "sampler", "from", String(i)];
        const { hint, fixes } = sibling(absolute, mine(file, placeOf(view.body, ...path)) ?? root.origin);
        tell(model, view, pastCurriculum, [path], {
          severity: "warning",
          message: `${unusable(absolute, file)}, and a new run cannot begin without it.${hint}`,
          fixes,
        });
      });
    }
  },
};
