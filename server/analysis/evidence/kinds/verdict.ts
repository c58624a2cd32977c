/** What is wrong with the run as a whole, on the value that it is about, with the edits that answer it. */
import { alarmOf, type VerdictState } from "../../../../shared/run/verdict.ts";
import type { EvidenceKind } from "../kind.ts";

/** Where a verdict names no term. */
const places: Readonly<Partial<Record<VerdictState, string>>> = {
  starved: "rollout.group",
  unstable: "update.optimizer.lr",
  failing: "reward.terms",
};

export const verdict: EvidenceKind = {
  id: "run-verdict",
  see: ({ record: { verdict } }) => {
    if (verdict === null || alarmOf({ verdict }) === undefined) return [];
    const { cause, state, headline, details, fixes, rollouts } = verdict;
    const at = cause?.key ?? places[state] ?? "reward";
    const [rollout] = rollouts;
    return {
      level: "diagnostic",
      severity: "warning",
      at,
      reads: [{ path: at }, ...fixes.flatMap(({ set }) => set.map(({ path }) => ({ path })))],
      ...(cause?.term == null ? {} : { term: cause.term }),
      message: [headline, ...details].join(" "),
      fixes,
      ...(rollout === undefined
        ? {}
        : { rollouts: { step: rollout.step, where: `group == ${JSON.stringify(rollout.group)}` } }),
    };
  },
};
