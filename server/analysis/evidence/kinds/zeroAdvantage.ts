import { formatFraction } from "../../../../shared/lib/format.ts";
import { enough, type EvidenceKind } from "../kind.ts";
import { finite } from "../numbers.ts";
import { training } from "../where.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** More than half of the work for nothing. */
const notable = 0.5;

export const zeroAdvantage: EvidenceKind = {
  id: "run-zero-advantage",
  see: (view) => {
    const shares = finite(view.recent("groups/zero_advantage"));
    if (shares.length < enough || mean(shares) < notable) return [];
    const part = (name: string): number => mean(finite(view.recent(`groups/${name}`)));
    const [right, wrong] = [part("all_right"), part("all_wrong")];
    const split = Number.isNaN(right + wrong)
      ? ""
      : ` ${formatFraction(right)} of groups were all correct, ${formatFraction(wrong)} all wrong.`;
    return {
      level: "diagnostic",
      at: "rollout.group",
      reads: [{ path: "rollout.group" }, { path: "tasks" }, { path: "reward.terms" }, { path: "advantage" }],
      metric: "groups/zero_advantage",
      message: `In ${formatFraction(mean(shares))} of groups of ${view.over(shares.length)} every advantage was 0, so nothing was learned from them.${split}`,
      rollouts: { step: view.summary.step, where: `advantage == 0 && ${training}` },
    };
  },
};
