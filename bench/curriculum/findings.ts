/** Results as evidence for and against the claims. */
import { barOf, type Asked, type Claim } from "./claim.ts";
import { counts, looksOf } from "./plan.ts";
import { evidence, superseded, type Result } from "./result.ts";
import { interval, verdictOf, type Interval, type Verdict } from "./statistics.ts";

export interface Finding {
  readonly kind: Result["kind"];
  readonly what: string;
  readonly paper: string;
  readonly scale: Asked["scale"];
  /** In the scale of the effect; undefined: fewer than two seeds. */
  readonly interval: Interval | undefined;
  /** Undefined: nothing is claimed of it, or something replaces the method. */
  readonly verdict: Verdict | "too early" | undefined;
  /** Seeds that both sides have and of which the effect is unknown: a success of 0 has no ratio. */
  readonly dropped: readonly number[];
  /** How many times the results were looked at, or will be. */
  readonly looks: number;
  /** Seeds at which it is decided next; 0: its pilot has not ended. */
  readonly planned: number;
  /** Whether the paper claims anything of it. */
  readonly claimed: boolean;
}

export interface Earlier {
  readonly kind: Result["kind"];
  readonly what: string;
  /** Why it does not count. */
  readonly why: string;
  readonly scale: Asked["scale"];
  readonly interval: Interval | undefined;
}

interface Effects {
  readonly found: readonly number[];
  readonly dropped: readonly number[];
}

const bySeed = (results: readonly Result[], side: string): ReadonlyMap<number, Result> =>
  new Map(results.filter((one) => one.side === side).map((one) => [one.seed, one]));

/** One effect a seed that both sides have. */
function effectsOf(
  asked: Asked,
  ours: ReadonlyMap<number, Result>,
  theirs: ReadonlyMap<number, Result>,
): Effects {
  const [found, dropped]: [number[], number[]] = [[], []];
  for (const [seed, one] of ours) {
    const beside = theirs.get(seed);
    if (beside === undefined) continue;
    const effect = asked.effect(one, beside);
    if (Number.isFinite(effect)) found.push(effect);
    else dropped.push(seed);
  }
  return { found, dropped };
}

const simulatedSeeds = 20;

const kinds = ["simulated", "real"] as const;
const of = (kind: Result["kind"], results: readonly Result[], claim?: Claim): Result[] =>
  results.filter((one) => one.kind === kind && (claim === undefined || counts(claim, one.seed)));

/** Numbers of seeds at which results are decided. */
const looksAt = (claim: Claim, kind: Result["kind"], all: readonly Result[]): readonly number[] =>
  kind === "real" ? looksOf(claim, all) : [simulatedSeeds];

/** Settings of the method's own side that were measured before the present ones: each was a look, too. */
const triedBefore = (claim: Claim, kind: Result["kind"], all: readonly Result[]): Result[][] =>
  superseded(evidence(all)).flatMap((runs) => {
    const own = of(kind, runs, claim).filter(({ side }) => [claim.own.name, claim.other.name].includes(side));
    return own.length === 0 ? [] : [own];
  });

/** @param all every result there is, those of earlier settings included: they widen the intervals */
export function findingsOf(claim: Claim, results: readonly Result[], all = results): Finding[] {
  return kinds.flatMap((kind) => {
    const [ours, theirs] = [claim.own, claim.other].map(({ name }) => bySeed(of(kind, results, claim), name));
    const planned = looksAt(claim, kind, all);
    return claim[kind].map((asked): Finding => {
      const { found, dropped } = effectsOf(asked, ours!, theirs!);
      const seeds = found.length + dropped.length;
      const next = planned.find((look) => look >= seeds);
      // More seeds than were planned are a look of their own.
      const looks = planned.length + Number(next === undefined) + triedBefore(claim, kind, all).length;
      const measured = interval(found, looks);
      const { what, paper, scale } = asked;
      const isDue = planned.length > 0 && (next === undefined || next === seeds);
      const verdict = verdictFor(claim, kind, asked, measured, isDue);
      return {
        kind,
        what,
        paper,
        scale,
        interval: measured,
        verdict,
        dropped,
        looks,
        planned: next ?? (planned.length > 0 ? seeds : 0),
        claimed: barOf(asked) !== undefined,
      };
    });
  });
}

function verdictFor(
  { standIn }: Claim,
  kind: Result["kind"],
  asked: Asked,
  measured: Interval | undefined,
  isDue: boolean,
): Finding["verdict"] {
  const bar = barOf(asked);
  if (bar === undefined || measured === undefined || (kind === "simulated" && standIn !== undefined))
    return undefined;
  return isDue ? verdictOf(measured, bar) : "too early";
}

/** What earlier looks and earlier settings had measured. */
export function earlierOf(claim: Claim, results: readonly Result[], all: readonly Result[]): Earlier[] {
  return kinds.flatMap((kind) => {
    const present = of(kind, results, claim);
    const [ours, theirs] = [claim.own, claim.other].map(({ name }) => bySeed(present, name));
    const measured = (why: string, own: typeof ours, other: typeof theirs, seeds = Infinity): Earlier[] =>
      claim[kind].map((asked) => {
        const till = new Map([...own!].filter(([seed]) => seed <= seeds));
        const { what, scale } = asked;
        return { kind, what, why, scale, interval: interval(effectsOf(asked, till, other!).found) };
      });
    const before = looksAt(claim, kind, all).filter((look) => look < ours!.size);
    return [
      ...before.flatMap((look) => measured(`look at ${look} seeds`, ours, theirs, look)),
      ...triedBefore(claim, kind, all).flatMap((runs) => {
        const [{ side, fingerprint }] = [runs[0]!];
        const old = bySeed(runs, side);
        const why = `settings ${fingerprint} of ${side}`;
        return side === claim.own.name ? measured(why, old, theirs) : measured(why, ours, old);
      }),
    ];
  });
}

const number = (value: number, scale: Finding["scale"]): string =>
  scale === "ratio"
    ? Number(Math.exp(value).toPrecision(3)).toString()
    : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** The effect with its interval, in words of the page. */
export function measuredText({ interval: found, scale }: Pick<Finding, "interval" | "scale">): string {
  if (found === undefined) return "not run";
  const [mean, low, high] = [found.mean, found.low, found.high].map((value) => number(value, scale));
  return `${mean}${scale === "ratio" ? " ×" : ""} (${low} to ${high})`;
}

/** Simulations show how a method behaves; only training shows what a paper claims. */
const simulatedWords: Readonly<Record<Verdict, string>> = {
  shows: "behaves as claimed in simulation",
  "shows, but less": "behaves so in simulation, but less",
  "does not show": "does not behave so in simulation",
  "the opposite shows": "behaves the opposite way in simulation",
  undecided: "undecided in simulation",
};

/** What it says, and of a null by how much. */
export function verdictText({ kind, verdict, interval: found, scale, planned }: Finding): string {
  if (verdict === undefined || found === undefined) return "–";
  if (verdict === "too early")
    return planned === 0 ? "too early: its pilot has not ended" : `too early: decided at ${planned} seeds`;
  const by = verdict === "does not show" ? `: ${number(found.mean, scale)}` : "";
  if (kind === "simulated") return `${simulatedWords[verdict]}${by}`;
  if (verdict === "undecided") return "undecided: interval too wide";
  return verdict === "does not show" ? `does not show here${by}` : verdict;
}

/** How many seeds, which of them say nothing, and among how many looks the 5 % are divided. */
export function seedsText({ kind, interval: found, dropped, looks }: Finding): string {
  const seeds = found?.seeds ?? 0;
  const without =
    dropped.length === 0
      ? ""
      : ` of ${seeds + dropped.length} (without seed ${dropped.join(", ")}: a success of 0 has no ratio)`;
  return `${kind}, ${seeds}${without}${looks > 1 ? `; ${looks} looks` : ""}`;
}

export const shown = (finding: Finding): string =>
  `${measuredText(finding)}, ${seedsText(finding)}: ${verdictText(finding)}`;
