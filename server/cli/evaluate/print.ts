/** What `gradus evaluate` prints. */
import type { Interval } from "../../analysis/evaluation/bootstrap.ts";
import type { Difference } from "../../analysis/evaluation/compare.ts";
import type { Gain, Gains } from "../../analysis/evaluation/gains.ts";
import type { Perplexities } from "../../analysis/evaluation/perplexity.ts";
import type { Selection } from "../../analysis/evaluation/selectors/selection.ts";
import { crossingSentence, solvedSentence } from "../../../shared/run/boundaryReport.ts";
import { print } from "../command.ts";
import { fixed } from "../text/terminal.ts";
import type { Compared } from "./compared.ts";
import type { Measured, Report } from "./measure.ts";

export function printEvaluation({ tasks, report }: Measured, other: Compared | undefined): void {
  printMetrics(tasks.length, report, other, other?.difference ?? {});
  for (const one of other === undefined ? [report] : [report, other]) {
    printProbes(one);
    if (one.selection !== undefined) printSelection(one.checkpoint, one.selection);
  }
  if (other === undefined) return;
  if (other.gains !== undefined) printGains(other.gains);
  printDoubts(other);
  if (other.boundary !== undefined) printBoundary(other.boundary, other.perplexity);
}

const range = ({ low, high }: Interval): string => `[${fixed(low)}, ${fixed(high)}]`;

function printMetrics(
  tasks: number,
  own: Report,
  other: Report | undefined,
  difference: Readonly<Record<string, Difference>>,
): void {
  print(`${tasks} held-out tasks; in brackets the 95 % bootstrap interval over tasks`);
  if (other !== undefined)
    print(`last column: ${own.checkpoint} minus ${other.checkpoint}, on the same tasks`);
  const width = Math.max(...Object.keys(own.metrics).map((name) => name.length));
  for (const [name, value] of Object.entries(own.metrics)) {
    const interval = own.intervals[name];
    const gap = difference[name];
    const parts = [
      `${fixed(value)} ${interval === undefined ? "" : range(interval)}`,
      ...(other === undefined ? [] : [fixed(other.metrics[name])]),
      ...(gap === undefined ? [] : [`${gap.value < 0 ? "" : "+"}${fixed(gap.value)} ${range(gap)}`]),
    ];
    print(`  ${name.padEnd(width)}  ${parts.join("   ")}`);
  }
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${fixed(value)}`;

function printProbes({ checkpoint, probes = [] }: Report): void {
  for (const { name, field, tasks, asked, metrics } of probes) {
    print(`\n${checkpoint} with ${name} (${field}): ${asked} questions instead of ${tasks} tasks`);
    for (const [metric, { with: own, without, difference, ...interval }] of Object.entries(metrics))
      print(
        `  ${metric.padEnd(8)}  ${fixed(own)}   plain ${fixed(without)}   ${signed(difference)} ${range(interval)}`,
      );
  }
}

function printGains({ k, tasks, total, self_distillation, capability, gained, lost }: Gains): void {
  const line = (name: string, one: Gain, what: string): void =>
    print(`  ${name.padEnd(18)}  ${signed(one.value)} ${range(one)}   ${what}`);
  print(`\nThe gain in pass@1 over ${tasks} tasks, by what the other solves within ${k} samples`);
  line("self-distillation", self_distillation, "on what it solves");
  line("capability", capability, `on what it does not (${gained} gained, ${lost} lost)`);
  line("together", total, "");
}

function printSelection(checkpoint: string, { tasks, answers, selectors }: Selection): void {
  print(`\n${checkpoint}: one of ${answers} answers, chosen without its reward (${tasks} tasks)`);
  const width = Math.max(...selectors.map(({ selector }) => selector.length));
  for (const { selector, right, interval, calibration } of selectors) {
    const sure =
      calibration === undefined
        ? ""
        : `   ECE ${fixed(calibration.ece)}   AUROC ${fixed(calibration.auroc ?? undefined)}`;
    print(`  ${selector.padEnd(width)}  ${fixed(right)} ${range(interval)}${sure}`);
  }
}

/** What the mean over all tasks does not say. */
function printDoubts({ posterior, reversed_arms: reversed, normalised }: Compared): void {
  if (posterior !== undefined)
    print(
      `\nThe first is better with probability ${fixed(posterior.better)} by ${posterior.tasks} greedy answers${posterior.enough ? "" : ": too few to tell"}`,
    );
  for (const { arm, value, ...interval } of reversed)
    print(`On ${arm} it is the other way round: ${signed(value)} ${range(interval)}`);
  if (normalised === undefined) return;
  print("\nFrom random (0) to the second (1)");
  for (const [name, value] of Object.entries(normalised)) print(`  ${name}  ${fixed(value)}`);
}

/** What the two are called. */
const sides = { own: "the first", other: "the second" };

function printBoundary(
  boundary: NonNullable<Compared["boundary"]>,
  { own_under_other: under, other: plain }: Perplexities,
): void {
  print(`\n${solvedSentence(boundary, sides)}`);
  for (const one of boundary.curve)
    print(`  pass@${String(one.k).padEnd(4)}  ${fixed(one.own)}   ${fixed(one.other)}`);
  print(`  ${crossingSentence(boundary, sides)}`);
  if (under !== null && plain !== null)
    print(
      `  Perplexity of the first's answers under the second: median ${fixed(under.median, 2)}; of the second's own: ${fixed(plain.median, 2)}.`,
    );
}
