import { resolve } from "node:path";
import { isReadable, sibling, unusable } from "../nearFile.ts";
import { firstTime, mine, placeOf, reportAt, type Rule } from "../rule.ts";

/** Files of past curricula exist. A run that goes on has what it needs of them in its checkpoint: no error. */
export const pastCurriculum: Rule = {
  id: "past-curriculum",
  title: "Missing file of past curricula",
  why: "`curriculum.sampler.from` names files that record the curricula of earlier runs, as `gradus runs export RUN --to curriculum` writes them. A path is relative to the folder of the file that contains it. Without these files a new run stops at its first step; a resumed run has what it needs in its checkpoint.",
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
        reportAt(model, view, pastCurriculum, [path], {
          severity: "warning",
          message: `${unusable(absolute, file)}, and a new run cannot start without it.${hint}`,
          fixes,
        });
      });
    }
  },
};
