/** docs/claims.md, made of the results and of nothing else. */
import { format } from "oxfmt";
import { claims } from "./claims/index.ts";
import type { Claim } from "./claim.ts";
import {
  earlierOf,
  findingsOf,
  measuredText,
  seedsText,
  verdictText,
  type Earlier,
  type Finding,
} from "./findings.ts";
import { decidedAt, figureList, pilotTable, summary } from "./pageParts.ts";
import { evidence, latest, type Result } from "./result.ts";

const distinct = (values: readonly string[]): string => [...new Set(values)].sort().join("; ");

const middle = (values: readonly number[]): number | undefined =>
  [...values].sort((a, b) => a - b)[values.length >> 1];

/** How many runs, when, on what. */
function made(kind: Result["kind"], results: readonly Result[]): string {
  const own = results.filter((one) => one.kind === kind);
  if (own.length === 0) return `No ${kind} runs.`;
  const dates = own.map(({ date }) => date).sort();
  const when = dates[0] === dates.at(-1) ? dates[0] : `${dates[0]} to ${dates.at(-1)}`;
  const where = distinct(own.map(({ machine }) => machine));
  const load = middle(own.flatMap((one) => (one.load === undefined ? [] : [one.load])));
  const busy = load === undefined ? "" : `, at a median load of ${Math.round(load)}`;
  const seconds = middle(own.map((one) => one.seconds));
  return `${own.length} ${kind} runs, ${when}, ${where}, version ${distinct(own.map(({ version }) => version))}; median ${seconds} s a run${busy}.`;
}

/** What is measured: where something replaces a method, that. */
const sides = ({ own, other, standIn }: Claim, kind: Result["kind"]): string =>
  `${(kind === "simulated" ? standIn : undefined) ?? own.label} against ${other.label}`;

function row(claim: Claim, finding: Finding): string {
  const { kind, what, paper } = finding;
  return `| ${sides(claim, kind)} | ${what} | ${paper} | ${measuredText(finding)} | ${seedsText(finding)} | ${verdictText(finding)} |`;
}

const earlierRow = (claim: Claim, one: Earlier): string =>
  `| ${sides(claim, one.kind)} | ${one.what} | ${one.why} | ${measuredText(one)} | ${one.kind}, ${one.interval?.seeds ?? 0} |`;

const file = (side: string): string => `[${side}](../bench/curriculum/sides/${side}.gradus.yaml)`;
const differing = (claim: Claim, all: readonly Result[]): string =>
  `- **${claim.id}**, ${claim.paper}: ${claim.says} Sides: ${file(claim.own.name)}, ${file(claim.other.name)}. Here: ${claim.differs} ${decidedAt(claim, all)}`;

const head = `# The papers' claims, at this scale

## What does this page measure?

\`npm run bench -- curriculum\` tests headline claims of curricula, guidance and losses again, by simulation and by training a
model of 0.3 million parameters, through the product itself. With \`--write\` it makes this page from
[results.jsonl](../bench/curriculum/results.jsonl), one line a run. A run with a line there is not repeated while its settings stay
the same. The configs in [sides/](../bench/curriculum/sides) are the sides of each comparison. Seconds depend on what else the
machine does: nothing is claimed of them, but for PCL, whose paper counts them.

Two sides of a claim start, seed by seed, from the same warmed-up checkpoint and answer the same held-out tasks. An effect belongs to
one seed, and its mean has a t interval over the seeds. Ratios are averaged as logarithms. The source of a claim
([claims/](../bench/curriculum/claims)) says at how many seeds it is decided, before they are run, or its [pilot](#how-many-seeds)
does. Every further look, with more seeds or after the settings have changed, divides the 5 % among the looks (Bonferroni): two looks
have intervals of 97.5 %. Looks and settings that no longer count are listed [below](#earlier-looks-and-superseded-runs). Intervals
are of one claim each: of twenty, one would miss by chance.

## What do the verdicts mean?

- **Shows** is for real runs alone: no effect is outside the interval, which is on the claimed side.
- **But less**: the claimed value is outside, too.
- **Does not show**: no effect is inside, and the interval stays below half of the claim, or, where the paper gives no number, below a
  margin: 0.02 of success, 1.1 × of cost or entropy (set after the runs of the claims without a pilot, before all others).
- **Undecided**: everything else; more seeds would decide.

Simulated learners are a few numbers in one world (see [curriculum.md](curriculum.md)): they show how a method **behaves in
simulation**, and their intervals are of the chance in what is drawn, not of models. For PCL and GAIN-RL the table names what is
simulated in their place, and gives no verdict on those methods.

"The same success" is 95 % of the way from the start to the lower of both ends, on curves that isotonic regression made to rise.

¹ The paper's number could not be checked again for this page.
`;

export async function page(all: readonly Result[]): Promise<string> {
  const results = latest(evidence(all));
  const lines = [
    head,
    "## What shows, and what does not?",
    "",
    "Of real runs, each on a claim of its own (the table has the numbers):",
    "",
    ...summary(claims, all),
    "",
    "## What did we measure?",
    "",
    made("real", results),
    made("simulated", results),
    "",
    "| what against what | measured | the paper | here (interval) | how, seeds | verdict |",
    "| --- | --- | --- | --- | --- | --- |",
    ...claims.flatMap((claim) => findingsOf(claim, results, all).map((finding) => row(claim, finding))),
    "",
    "## How many seeds?",
    "",
    ...pilotTable(claims, all),
    "",
    "## How do the curves look?",
    "",
    ...figureList(all),
    "",
    "## Earlier looks and superseded runs",
    "",
    "Earlier results, each with its own 95 % interval. They are why the intervals above are wider than that.",
    "",
    "| what against what | measured | what it was | then (95 %) | how, seeds |",
    "| --- | --- | --- | --- | --- |",
    ...claims.flatMap((claim) => earlierOf(claim, results, all).map((one) => earlierRow(claim, one))),
    "",
    "## How do these runs differ from the papers?",
    "",
    ...claims.map((claim) => differing(claim, all)),
    "",
  ];
  return (await format("claims.md", lines.join("\n"), { printWidth: 110 })).code;
}
