/** Parts of docs/claims.md beside its tables of results. */
import type { Claim } from "./claim.ts";
import { findingsOf, type Finding } from "./findings.ts";
import { figureNames, figureOf } from "./figures/figures.ts";
import { counts, hoursOf, hoursOfClaim, looksOf, pilotSeeds, planOf } from "./plan.ts";
import { evidence, latest, pilots, type Result } from "./result.ts";

/** What was found of real runs, by verdict: what does not show stands beside what does. */
export function summary(claims: readonly Claim[], all: readonly Result[]): string[] {
  const results = latest(evidence(all));
  const found = claims.flatMap((claim) =>
    findingsOf(claim, results, all)
      .filter(({ kind }) => kind === "real")
      .map((finding) => ({
        said: `${claim.own.label} against ${claim.other.label} (${finding.what})`,
        finding,
      })),
  );
  const those = (is: (finding: Finding) => boolean): string[] =>
    found.filter(({ finding }) => is(finding)).map(({ said }) => said);
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ["Shows", those(({ verdict }) => verdict === "shows" || verdict === "shows, but less")],
    ["Does not show", those(({ verdict }) => verdict === "does not show")],
    ["The opposite shows", those(({ verdict }) => verdict === "the opposite shows")],
    ["Undecided", those(({ verdict }) => verdict === "undecided")],
    [
      "Not run as far as it is decided",
      those(
        ({ verdict, interval, claimed }) => claimed && (interval === undefined || verdict === "too early"),
      ),
    ],
  ];
  return parts.flatMap(([what, ones]) =>
    ones.length === 0 ? [] : [`- **${what}** (${ones.length}): ${ones.join("; ")}.`],
  );
}

function pilotRow(claim: Claim, all: readonly Result[]): string {
  const sides = [claim.own.name, claim.other.name];
  const spent = sides.reduce((sum, side) => {
    const runs = evidence(all).filter(
      (one) => one.kind === "real" && one.side === side && counts(claim, one.seed),
    );
    return sum + hoursOf(runs);
  }, 0);
  const plan = planOf(claim, all);
  const made = latest(pilots(all)).filter(({ side }) => sides.includes(side));
  const decided =
    plan === undefined
      ? "its pilot has not ended"
      : `${plan.seeds}${plan.seeds < plan.wanted ? ` (${plan.wanted} would be wanted)` : ""}`;
  return `| ${claim.id} | ${claim.own.label} against ${claim.other.label} | ${made.length} of ${2 * pilotSeeds.length} | ${decided} | ${spent.toFixed(1)} |`;
}

/** The pilots, which are no evidence, and what they say. */
export function pilotTable(claims: readonly Claim[], all: readonly Result[]): string[] {
  const own = claims.filter(({ looks }) => looks === "of the pilot");
  const runs = latest(pilots(all));
  return [
    `Claims that were added since have a pilot: seeds ${pilotSeeds[0]} to ${pilotSeeds.at(-1)} of both sides, which count for nothing else. Its spread`,
    "says at how many seeds a claim is decided: so many that a 95 % interval as wide reaches no farther than the margin to either side,",
    `at least 5 and at most what ${hoursOfClaim} processor hours allow (a run costs what the quickest of its side took). The claim's own seeds begin at 101; none of them had been run.`,
    `${runs.length} pilot runs are in results.jsonl, marked as such.`,
    "",
    "| claim | what against what | pilot runs | decided at seeds | hours so far |",
    "| --- | --- | --- | --- | --- |",
    ...own.map((claim) => pilotRow(claim, all)),
  ];
}

/** The figures whose runs are there. */
export function figureList(all: readonly Result[]): string[] {
  const there = figureNames.flatMap((name) => figureOf(name, all) ?? []);
  return [
    "`npm run bench -- figure NAME` prints the numbers of each, and draws it with `--write`. A line is the mean over the seeds that all of its",
    "sides have, its band the 95 % t interval at each point; the intervals of the table are of paired effects, and so narrower.",
    ...there.flatMap(({ name, title, after }) => [
      "",
      `**${name}**, after ${after}:`,
      "",
      `![${title}](images/claims-${name}.svg)`,
    ]),
  ];
}

/** When a claim is decided, as a sentence. */
export function decidedAt(claim: Claim, all: readonly Result[]): string {
  const looks = looksOf(claim, all);
  if (looks.length === 0) return "Its pilot has not ended.";
  const by = claim.looks === "of the pilot" ? ", as its pilot says" : "";
  return `Decided at ${looks.join(" and ")} seeds of real runs${by}.`;
}
