import { plural } from "../../shared/format.ts";
import type { EvidenceKind } from "./kind.ts";
import { lastWhere } from "./numbers.ts";
import { member } from "./where.ts";

export const termErrors: EvidenceKind = {
  id: "run-term-errors",
  see: (view) =>
    view.keys("reward.terms").flatMap((term) => {
      const points = view.recent(`reward/${term}/errors`);
      const last = lastWhere(points, (value) => value > 0);
      if (last === undefined) return [];
      const failed = points.values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value), 0);
      const all = [...view.rollouts.values()].reduce((sum, count) => sum + count, 0);
      return {
        level: "finding",
        at: `reward.terms.${term}`,
        reads: [{ path: `reward.terms.${term}`, except: ["weight"] }],
        term,
        metric: `reward/${term}/errors`,
        message: `\`${term}\` failed on ${failed.toLocaleString("en-US")} of ${plural(all, "rollout")} in ${view.over(points.steps.length)}, last in step ${last.step}. What fails is left out of its group.`,
        rollouts: { step: last.step, where: `${member("errors", term)} != null` },
      };
    }),
};
