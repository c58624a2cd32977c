import { formatNumber } from "../../../../shared/lib/format.ts";
import { enough, type EvidenceKind } from "../kind.ts";
import { finite } from "../numbers.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** Nats a token below which sampling writes nearly the same answer each time, and how far it must have fallen to get there. */
const [collapsed, fallen] = [0.05, 0.1];
const begin = 5;

export const entropy: EvidenceKind = {
  id: "run-entropy",
  see: (view) => {
    const all = finite(view.points("policy/entropy"));
    if (all.length < enough) return [];
    const [first, now] = [mean(all.slice(0, begin)), mean(all.slice(-begin))];
    if (now > collapsed || now > fallen * first) return [];
    return {
      level: "diagnostic",
      at: "objective.entropy",
      reads: [{ path: "objective" }, { path: "rollout.temperature" }, { path: "update.optimizer.lr" }],
      metric: "policy/entropy",
      message: `The policy's entropy fell from ${formatNumber(first)} to ${formatNumber(now)} nats per token in ${view.over(all.length)}: the rollouts of a group are nearly identical, so their rewards have little to compare.`,
    };
  },
};
