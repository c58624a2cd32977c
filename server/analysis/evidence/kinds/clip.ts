import { formatCount, formatFraction } from "../../../../shared/lib/format.ts";
import { enough, type EvidenceKind } from "../kind.ts";
import { finite } from "../numbers.ts";
import { mean } from "../../../../shared/lib/mean.ts";

export const clip: EvidenceKind = {
  id: "run-clip",
  see: (view) => {
    const points = view.points("update/clip_fraction");
    const shares = finite(points);
    if (shares.length < enough) return [];
    const reads = [
      { path: "objective", except: ["entropy", "also"] },
      { path: "update.epochs" },
      { path: "update.mini_batch" },
    ];
    const about = { at: "objective", reads, metric: "update/clip_fraction" } as const;
    if (shares.some((share) => share > 0)) {
      const recent = mean(finite(view.recent("update/clip_fraction")));
      return {
        ...about,
        level: "note",
        label: `clips ${formatFraction(recent, 1)} of tokens`,
        message: `The clip acted on ${formatFraction(recent, 1)} of the trained tokens in ${view.over(view.recent("update/clip_fraction").steps.length)}.`,
      };
    }
    const tokens = finite(view.points("tokens/trained")).reduce((sum, value) => sum + value, 0);
    const once = view.number("update.epochs") === 1 && view.number("update.mini_batch") === undefined;
    const why = once ? " With one update per step the ratio is 1, so the clip cannot act." : "";
    return {
      ...about,
      level: "diagnostic",
      message: `The clip acted on 0 of ${formatCount(tokens)} trained tokens in ${view.over(shares.length)}.${why}`,
    };
  },
};
