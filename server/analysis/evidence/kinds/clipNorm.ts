import { formatFraction, formatNumber } from "../../../../shared/lib/format.ts";
import { enough, type EvidenceKind } from "../kind.ts";
import { finite, median } from "../numbers.ts";

export const clipNorm: EvidenceKind = {
  id: "run-clip-norm",
  see: (view) => {
    const bound = view.number("update.optimizer.clip_norm");
    const norms = finite(view.recent("update/grad_norm"));
    if (bound === undefined || norms.length < enough) return [];
    const share = norms.filter((norm) => norm > bound).length / norms.length;
    return {
      level: "note",
      at: "update.optimizer.clip_norm",
      reads: [{ path: "update.optimizer.clip_norm" }],
      metric: "update/grad_norm",
      label: `clips ${formatFraction(share)} of steps`,
      message: `The gradient norm was above ${bound} in ${formatFraction(share)} of ${view.over(norms.length)}; its median is ${formatNumber(median(norms))}.`,
    };
  },
};
