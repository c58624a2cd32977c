/** Which rewards rank successes above failures, as a table. */
import type { Accuracy } from "../../analysis/rescore/preference.ts";
import type { RankedReward, RankedRewards } from "../../analysis/rescore/preferenceTally.ts";
import { formatFraction } from "../../../shared/lib/format.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { tableLines } from "../text/table.ts";

const columns = [
  { head: "" },
  { head: "within groups" },
  { head: "tied", align: "right" },
  { head: "over all" },
  { head: "" },
] as const;

/** "92 % [85 %, 97 %]". */
function share(found: Accuracy | null): string {
  if (found === null) return "–";
  const { accuracy, interval } = found;
  const ends =
    interval === null ? "" : ` [${formatFraction(interval.low)}, ${formatFraction(interval.high)}]`;
  return `${formatFraction(accuracy)}${ends}`;
}

const row = ({ term, decides, candidate, within, all }: RankedReward): string[] => [
  term === null ? "reward" : visibleText(term),
  share(within),
  within === null ? "–" : formatFraction(within.tied),
  share(all),
  decides ? "decides what succeeds" : candidate ? "candidate" : "",
];

/** A reward that is what decides a success, and nothing more, ranks every pair right: that says nothing. */
const says = ({ term, decides, within, all }: RankedReward): boolean =>
  !decides && (term !== null || (within ?? all)?.accuracy !== 1);

export function preferenceLines({ success, successes, failures, rewards }: RankedRewards): string[] {
  if (!rewards.some(says)) return [];
  const deciders = success.map((name) => `\`${visibleText(name)}\``).join(", ");
  const pairs = Math.max(...rewards.map(({ within }) => within?.pairs ?? 0));
  return [
    `  successes ranked above failures: ${successes} of ${successes + failures} rollouts succeed by ${deciders}; ${pairs} pairs within groups`,
    ...tableLines(columns, rewards.map(row)).map((line) => `    ${line}`),
  ];
}
