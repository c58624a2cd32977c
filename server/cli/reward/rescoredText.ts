/** What `gradus reward --rollouts` prints. */
import type { RescoredRollout } from "../../analysis/rescore/rescore.ts";
import type { RescoredSummary } from "../../analysis/rescore/rescoreTally.ts";
import { formatFraction } from "../../../shared/lib/format.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { fromWire, type WireNumber } from "../../../shared/rollouts/rollouts.ts";

const short = (value: WireNumber | null): string =>
  value === null ? "–" : typeof value === "string" ? value : String(Number(value.toPrecision(5)));

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;

/** "0.5 → 0.625 (+0.125)", the recorded mean first. */
function moved(before: WireNumber | null, now: WireNumber | null): string {
  if (typeof before !== "number" || typeof now !== "number") return `${short(before)} → ${short(now)}`;
  const change = now - before;
  return `${short(before)} → ${short(now)} (${change < 0 ? "−" : "+"}${short(Math.abs(change))})`;
}

/** A few of the groups by name: a long list says less than its number. */
const few = (names: readonly string[]): string =>
  names.length === 0 ? "" : ` (${visibleText(names.slice(0, 5).join(", "))}${names.length > 5 ? ", …" : ""})`;

type Term = RescoredSummary["terms"][string];

/** Over the rollouts with a value both times; where none has, each mean for itself. */
function means(
  { mean, before, compared }: Pick<Term, "mean" | "before" | "compared">,
  rollouts: number,
): string {
  if (compared.rollouts === 0) return moved(before, mean);
  const part = compared.rollouts < rollouts ? ` over ${compared.rollouts} of them` : "";
  return `${moved(compared.before, compared.mean)}${part}`;
}

function termLine(name: string, term: Term, rollouts: number): string {
  const { compared, errors } = term;
  const none = compared.lost - errors;
  const parts = [
    `${compared.changed} changed`,
    `${errors} failed`,
    ...(compared.gained > 0 ? [`${compared.gained} had no recorded value`] : []),
    ...(none > 0 ? [`${none} ${none === 1 ? "has" : "have"} none now`] : []),
  ];
  return `  ${visibleText(name)}: ${means(term, rollouts)}; ${parts.join(", ")}`;
}

/** Names that trainers make up are long: the group's number in its step says it, as `explain --why` takes it. */
const longest = 12;

function unrecordedLines({ unrecorded: { count: all, nan, first } }: RescoredSummary["total"]): string[] {
  if (all === 0) return [];
  const names = first.map(
    ({ step, group, number, index }) => `${step}/${group.length > longest ? number : group}#${index}`,
  );
  return [
    `  ${all} had no recorded score${nan === all ? " (NaN)" : ""}: ${visibleText(names.join(", "))}${all > names.length ? ", …" : ""}`,
  ];
}

export function summaryLines({ rollouts, terms, total, groups }: RescoredSummary): string[] {
  const { compared, flips, errors } = total;
  return [
    `\n${count(rollouts, "rollout")} in ${count(groups.total, "group")}, means recorded → now`,
    `  reward: ${means(total, rollouts)}; ${compared.changed} changed, ${count(flips, "sign flip")}, ${errors} failed`,
    ...unrecordedLines(total),
    ...Object.entries(terms).flatMap(([name, term]) => [
      termLine(name, term, rollouts),
      ...Object.entries(term.criteria ?? {}).map(
        ([criterion, { met, before: was, gained, lost }]) =>
          `    ${visibleText(criterion)}: met ${formatFraction(met)}, was ${formatFraction(was)}; ${gained} gained, ${lost} lost`,
      ),
    ]),
    `  groups whose rewards differ now but did not before (signal gained): ${groups.gained.length}${few(groups.gained)}`,
    `  groups whose rewards differed before but do not now (signal lost): ${groups.lost.length}${few(groups.lost)}`,
  ];
}

export function rolloutLines({
  step,
  group,
  index,
  rewards,
  errors,
  reward,
  before,
}: RescoredRollout): string[] {
  const terms = Object.entries(rewards)
    .map(([name, value]) => `${name} ${short(value)}`)
    .join("  ");
  return [
    `${step}/${visibleText(group)} #${index}  reward ${short(reward)} (was ${short(before)})  ${terms}`,
    ...Object.entries(errors).map(([name, message]) => `  ${visibleText(`${name}: ${message}`)}`),
  ];
}

/** Rollouts that a terminal lists. */
const listed = 20;
/** Below this a reward is the same but for rounding. */
const nothing = 1e-9;

/** Those whose reward changed, the most changed first; then those that fail. The rest is only counted. */
export class ChangedRollouts {
  private most: { readonly size: number; readonly rollout: RescoredRollout }[] = [];
  private count = 0;

  add(rollout: RescoredRollout): void {
    const size = sizeOf(rollout);
    if (size < nothing && Object.keys(rollout.errors).length === 0) return;
    this.count += 1;
    this.most.push({ size, rollout });
    // Sorting for each would be slow: the list grows to twice its length first.
    if (this.most.length >= 2 * listed) this.cut();
  }

  get lines(): string[] {
    this.cut();
    const rest = this.count - this.most.length;
    return [
      ...this.most.flatMap(({ rollout }) => rolloutLines(rollout)),
      ...(rest > 0 ? [`… and ${rest} more that changed or failed: --all prints every rollout`] : []),
    ];
  }

  private cut(): void {
    this.most = this.most.sort((one, other) => other.size - one.size).slice(0, listed);
  }
}

/** What has no reward on one side has not moved: the summary counts it. */
function sizeOf({ reward, before }: RescoredRollout): number {
  if (reward === null || before === null) return 0;
  const size = Math.abs(fromWire(reward) - fromWire(before));
  return Number.isNaN(size) ? 0 : size;
}
