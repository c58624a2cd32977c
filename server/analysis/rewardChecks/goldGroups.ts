/** Reference answers that do not succeed, by what they have in common: one cause is one finding, at the reward. */
import { formatCount } from "../../../shared/lib/format.ts";
import type { GoldFailure, GoldReport } from "./gold.ts";
import { bestText, capital, goldMessage } from "./sentences.ts";
import { traitGroups } from "./forms/traits.ts";

export interface GoldGroups {
  /** Rows that have one thing in common, or are too many to be wrong one by one. */
  readonly shared: readonly SharedFailure[];
  /** Rows that fail each for itself. */
  readonly single: readonly GoldFailure[];
}

interface SharedFailure {
  readonly rows: readonly [GoldFailure, ...GoldFailure[]];
  /** "thousands commas"; undefined: nothing is seen. */
  readonly trait?: string;
}

/** Rows with nothing in common that a person looks at one by one. */
const mostSingle = 8;

/** Rows on which a function threw are no part: `FailureCauses` has them. */
export function goldGroups({ failures, passed, passing }: GoldReport): GoldGroups {
  const missed = failures.filter(({ errors }) => Object.keys(errors).length === 0);
  // What none succeeds in is the function's fault, whatever the answers look like.
  if (passed === 0) return { shared: shared(missed), single: [] };
  const { groups, rest } = traitGroups(missed, ({ answer }) => answer, passing);
  const many = groups.filter(({ members }) => members.length > 1);
  const left = new Set([...rest, ...groups.flatMap(({ members }) => (members.length > 1 ? [] : members))]);
  const others = missed.filter((one) => left.has(one));
  const alike = many.flatMap(({ trait, members }) => shared(members, trait));
  return others.length > mostSingle
    ? { shared: [...alike, ...shared(others)], single: [] }
    : { shared: alike, single: others };
}

function shared([first, ...others]: readonly GoldFailure[], trait?: string): SharedFailure[] {
  if (first === undefined) return [];
  return [{ rows: [first, ...others], ...(trait !== undefined && { trait }) }];
}

/** "35 of 7,473 reference answers do not succeed, all with thousands commas; first row 12: the reference answer "1,005" does not succeed: score 0". */
export function sharedMessage({ rows, trait }: SharedFailure, report: GoldReport): string {
  const { checked, passed } = report;
  const [first] = rows;
  const all = rows.length > 1 && trait !== undefined ? `, all with ${trait}` : "";
  const which = first.row === undefined ? `task ${JSON.stringify(first.task)}` : `row ${first.row}`;
  const action =
    passed === 0
      ? `${capital(bestText(report))}: ${report.best === null ? "check what the reward reads, and in which form" : "if that is a right answer's reward, lower `reward.success.at_least`"}.`
      : trait === undefined
        ? "Read what the reward compares; `gradus reward FILE --gold --json` lists the rows."
        : "Let the reward read such answers, or write them otherwise in the data.";
  return `${formatCount(rows.length)} of ${formatCount(checked)} reference answers do not succeed${all}; first ${which}: ${goldMessage(first)}. ${action}`;
}
