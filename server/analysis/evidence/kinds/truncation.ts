import { formatFraction } from "../../../../shared/lib/format.ts";
import type { EvidenceKind } from "../kind.ts";
import { lastWhere } from "../numbers.ts";

/** A share below which cut answers are nothing to act on. */
const notable = 0.05;

export const truncation: EvidenceKind = {
  id: "run-truncated",
  see: (view) => {
    const points = view.recent("rollout/truncated");
    const counts = view.rollouts;
    let [cut, all] = [0, 0];
    points.steps.forEach((step, index) => {
      const value = points.values[index]!;
      if (Number.isNaN(value)) return;
      // A run whose groups are no longer known still has its means.
      const rollouts = counts.get(step) ?? 1;
      cut += value * rollouts;
      all += rollouts;
    });
    const last = lastWhere(points, (value) => value > 0);
    if (last === undefined || cut / all < notable) return [];
    return {
      level: "diagnostic",
      at: "rollout.max_tokens",
      reads: [{ path: "rollout.max_tokens" }],
      metric: "rollout/truncated",
      message: `\`max_tokens: ${view.number("rollout.max_tokens") ?? "…"}\` truncated ${formatFraction(cut / all)} of rollouts in ${view.over(points.steps.length)}.`,
      rollouts: { step: last.step, where: `finish == "length" && use == "train"` },
    };
  },
};
