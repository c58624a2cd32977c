import { formatNumber } from "../../../../shared/lib/format.ts";
import type { EvidenceKind } from "../kind.ts";
import { finite } from "../numbers.ts";
import { mean } from "../../../../shared/lib/mean.ts";

export const termMean: EvidenceKind = {
  id: "run-term-mean",
  see: (view) =>
    view.keys("reward.terms").flatMap((term) => {
      const recent = finite(view.recent(`reward/${term}`));
      if (recent.length === 0) return [];
      return {
        level: "note",
        at: `reward.terms.${term}`,
        reads: [{ path: `reward.terms.${term}`, except: ["weight"] }],
        term,
        metric: `reward/${term}`,
        label: `mean ${formatNumber(mean(recent))}`,
        message: `\`${term}\` was ${formatNumber(mean(recent))} on average over ${view.over(recent.length)}, ${formatNumber(recent.at(-1))} in the last.`,
      };
    }),
};
