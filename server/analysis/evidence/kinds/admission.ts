import { formatFraction, plural } from "../../../../shared/lib/format.ts";
import type { EvidenceKind } from "../kind.ts";
import type { GroupTally } from "../record.ts";

/** Below this share, most of what is generated is thrown away. */
const wasteful = 0.3;

const sum = (tallies: readonly GroupTally[]): number => tallies.reduce((all, { groups }) => all + groups, 0);

/** Why groups were left out, the numbers of single groups taken out of the reasons, most frequent first. */
function reasons(rejected: readonly GroupTally[], all: number): string {
  const counts = new Map<string, number>();
  for (const { reason, groups } of rejected) {
    const plain = (reason ?? "no reason given").replace(/^(success rate|reward|.*?) [-\d.e]+ is /, "$1 is ");
    counts.set(plain, (counts.get(plain) ?? 0) + groups);
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 3)
    .map(([reason, count]) => `${formatFraction(count / all)}: ${reason}`)
    .join("; ");
}

export const admission: EvidenceKind = {
  id: "run-admission",
  see: (view) => {
    const use = view.text("curriculum.admission.use");
    const { groups } = view;
    const all = sum(groups);
    if (use === undefined || use === "none" || all === 0) return [];
    const rejected = groups.filter(({ admitted }) => !admitted);
    const share = (all - sum(rejected)) / all;
    const over = view.over(new Set(groups.map(({ step }) => step)).size);
    const about = {
      at: "curriculum.admission",
      reads: [{ path: "curriculum.admission", except: ["refill"] }, { path: "reward.success" }],
    };
    const why = rejected.length === 0 ? "" : ` Left out: ${reasons(rejected, all)}.`;
    const message = `\`${use}\` admitted ${formatFraction(share)} of ${plural(all, "group")} in ${over}.${why}`;
    if (share >= wasteful)
      return { ...about, level: "note", label: `admitted ${formatFraction(share)} of groups`, message };
    const step = rejected.at(-1)?.step ?? view.summary.step;
    return {
      ...about,
      level: "diagnostic",
      message,
      rollouts: { step, where: `admitted == false && use == "train"` },
    };
  },
};
