/** docs/claims.md, made of the results and of nothing else. */
import { format } from "prettier";
import { claims } from "./claims/index.ts";
import type { Claim } from "./claim.ts";
import { findingsOf, measuredText, verdictText, type Finding } from "./findings.ts";
import { latest, type Result } from "./result.ts";

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

function row(claim: Claim, finding: Finding): string {
  const { kind, what, paper, interval } = finding;
  const how = `${kind}, ${interval?.seeds ?? 0}`;
  return `| ${claim.own.label} beside ${claim.other.label} | ${what} | ${paper} | ${measuredText(finding)} | ${how} | ${verdictText(finding)} |`;
}

const head = `# The papers' claims, at this scale

\`npm run bench -- curriculum\` asks the headline claims of curricula and guidance again, by simulation and by training a model
of 0.3 million parameters, through the product itself. This page is made by it (\`--write\`) of
[results.jsonl](../bench/curriculum/results.jsonl), one line a run; every run that stands there is not made again while
its settings stay. What is compared with what are the configs in [sides/](../bench/curriculum/sides).

Two sides of a claim begin, seed by seed, from the same warmed-up checkpoint and answer the same held-out tasks; an effect is
of one seed, and its mean has a 95 % t interval over the seeds. Ratios are averaged as logarithms. **Shows**: no effect lies outside
the interval, which lies on the claimed side; **but less**: what is claimed lies outside, too. **Does not show**: no effect lies
inside, and the interval is narrower than half of what is claimed. Else it is **undecided**: more seeds would tell. Simulated
learners are a few numbers (see [curriculum.md](curriculum.md)): they show how a method behaves, not what a model will reach.

"The same success" is 95 % of the way from the start to the lower of both ends, on curves that isotonic regression made to rise.

¹ The paper's number could not be looked up again when this was written.
`;

export function page(all: readonly Result[]): Promise<string> {
  const results = latest(all);
  const lines = [
    head,
    "## Measured",
    "",
    made("real", results),
    made("simulated", results),
    "",
    "| what beside what | measured | the paper | here (95 %) | how, seeds | verdict |",
    "| --- | --- | --- | --- | --- | --- |",
    ...claims.flatMap((claim) => findingsOf(claim, results).map((finding) => row(claim, finding))),
    "",
    "## What was asked, and what is not as in the paper",
    "",
    ...claims.map(
      ({ id, paper, says, own, other, differs }) =>
        `- **${id}**, ${paper}: ${says} Sides: [${own.name}](../bench/curriculum/sides/${own.name}.gradus.yaml), [${other.name}](../bench/curriculum/sides/${other.name}.gradus.yaml). Here: ${differs}`,
    ),
    "",
  ];
  return format(lines.join("\n"), { parser: "markdown", printWidth: 110 });
}
