/** Results as evidence for and against the claims. */
import { claimedOf, type Asked, type Claim } from "./claim.ts";
import type { Result } from "./result.ts";
import { interval, verdictOf, type Interval, type Verdict } from "./statistics.ts";

export interface Finding {
  readonly kind: Result["kind"];
  readonly what: string;
  readonly paper: string;
  readonly scale: Asked["scale"];
  /** In the scale of the effect; undefined: fewer than two seeds. */
  readonly interval: Interval | undefined;
  readonly verdict: Verdict | undefined;
}

/** One effect a seed that both sides have. */
function effects({ own, other }: Claim, asked: Asked, results: readonly Result[]): number[] {
  const of = (side: string): Map<number, Result> =>
    new Map(results.filter((one) => one.side === side).map((one) => [one.seed, one]));
  const [ours, theirs] = [of(own.name), of(other.name)];
  return [...ours].flatMap(([seed, one]) => {
    const beside = theirs.get(seed);
    const effect = beside === undefined ? Number.NaN : asked.effect(one, beside);
    return Number.isFinite(effect) ? [effect] : [];
  });
}

export function findingsOf(claim: Claim, results: readonly Result[]): Finding[] {
  return (["simulated", "real"] as const).flatMap((kind) => {
    const own = results.filter((one) => one.kind === kind);
    return claim[kind].map((asked): Finding => {
      const found = interval(effects(claim, asked, own));
      const { what, paper, scale } = asked;
      const claimed = claimedOf(asked);
      const verdict = claimed === undefined ? undefined : found && verdictOf(found, claimed);
      return { kind, what, paper, scale, interval: found, verdict };
    });
  });
}

const number = (value: number, scale: Finding["scale"]): string =>
  scale === "ratio"
    ? Number(Math.exp(value).toPrecision(3)).toString()
    : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** The effect with its interval, in words of the page. */
export function measuredText({ interval: found, scale }: Finding): string {
  if (found === undefined) return "not run";
  const [mean, low, high] = [found.mean, found.low, found.high].map((value) => number(value, scale));
  return `${mean}${scale === "ratio" ? " ×" : ""} (${low} to ${high})`;
}

/** What it says, and of a null by how much. */
export function verdictText({ verdict, interval: found, scale }: Finding): string {
  if (verdict === undefined || found === undefined) return "–";
  if (verdict === "undecided") return "undecided: interval too wide";
  return verdict === "does not show" ? `does not show here: ${number(found.mean, scale)}` : verdict;
}

export const shown = (finding: Finding): string =>
  `${measuredText(finding)}, ${finding.interval?.seeds ?? 0} seeds: ${verdictText(finding)}`;
