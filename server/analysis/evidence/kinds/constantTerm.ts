import { formatNumber } from "../../../../shared/lib/format.ts";
import { constantSince } from "./constant.ts";
import { enough, type EvidenceKind } from "../kind.ts";

/** Baselines that take nothing off, so that a constant reward still moves every log-prob. */
const uncentred = ["none", "zero"];

export const constantTerm: EvidenceKind = {
  id: "run-constant-term",
  see: (view) =>
    view.keys("reward.terms").flatMap((term) => {
      const constant = constantSince(view.points(`reward/${term}`));
      const spread = view.record.spread.find((other) => other.term === term);
      if (constant === undefined || constant.count < enough) return [];
      if (spread === undefined || spread.groups === 0 || spread.varying > 0) return [];
      const effect = uncentred.includes(view.text("advantage.baseline.use") ?? "")
        ? "it does not distinguish rollouts"
        : "it contributes no gradient";
      return {
        level: "diagnostic",
        at: `reward.terms.${term}`,
        reads: [{ path: `reward.terms.${term}`, except: ["weight"] }, { path: "advantage.baseline" }],
        term,
        metric: `reward/${term}`,
        message: `\`${term}\` was ${formatNumber(constant.value)} for ${view.over(constant.count)}, equal in every rollout of each group: ${effect}.`,
        rollouts: { step: spread.step, where: `use == "train"` },
      };
    }),
};
