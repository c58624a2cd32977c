/** What a curriculum would have done, for a person: each arm's share over the steps and at the end. */
import { condensed } from "../../../shared/lib/condensed.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import type { ReplayFault } from "../../analysis/history/faults.ts";
import type { ReplayedStep } from "../../analysis/history/standing.ts";
import type { ReplayBand, WhatIfStep } from "../../analysis/history/whatIf.ts";
import { colours } from "./colours.ts";
import type { Comparison, Spread } from "../../analysis/simulate/compare.ts";
import type { Scenario } from "../../analysis/simulate/scenarios.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { shares } from "./terminal.ts";
import { formatCount } from "../../../shared/lib/format.ts";

const most = 24;
const width = 32;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`.padStart(8);

export function curriculumLines(steps: readonly ReplayedStep[]): string[] {
  const last = steps.at(-1);
  if (last === undefined) return ["The history has no step."];
  const arms = Object.keys(last.probabilities).sort(
    (a, b) => last.probabilities[b]! - last.probabilities[a]!,
  );
  const named = Math.max(3, ...arms.slice(0, most).map((arm) => arm.length));
  const head = `${"arm".padEnd(named)}  ${"next".padStart(8)}  ${"estimate".padStart(10)}  chance of being drawn, step ${steps[0]!.step} to ${last.step}`;
  const rows = arms.slice(0, most).map((arm) => {
    const estimate = last.estimates[arm];
    const value = estimate === undefined || estimate === null ? "–" : fromWire(estimate).toFixed(4);
    const curve = sparkline(
      condensed(
        steps.map(({ probabilities }) => probabilities[arm] ?? 0),
        width,
      ),
      width,
    );
    return `${arm.padEnd(named)}  ${percent(last.probabilities[arm]!)}  ${value.padStart(10)}  ${curve}`;
  });
  return [
    colours.bold(head),
    ...rows,
    ...(arms.length > most ? [colours.dim(`… and ${arms.length - most} more arms (--json has all)`)] : []),
    ...stageLines(steps),
    ...simulatedLines(last),
    `${steps.reduce((sum, { admitted }) => sum + admitted.length, 0)} groups admitted in ${steps.length} steps`,
  ];
}

/** How sure the chances are, where they have no closed form. */
function simulatedLines({ simulated }: ReplayedStep): string[] {
  if (simulated === undefined) return [];
  const { draws, standard_error } = simulated;
  return [
    colours.dim(
      `chances are estimated from ${formatCount(draws)} simulated draws: standard error up to ${(100 * standard_error).toFixed(1)} points`,
    ),
  ];
}

/** What a run would have warned of. */
export function faultLine(history: string, { code, step, more, message, action }: ReplayFault): string {
  const others = more === 0 ? "" : ` (and so in ${more} more ${more === 1 ? "step" : "steps"})`;
  return `${history}: warning: step ${step}${others}: ${message}. ${action} [${code}]`;
}

/** From which step on each stage is. */
function stageLines(steps: readonly ReplayedStep[]): string[] {
  const begins = steps.filter(({ stage }, i) => i === 0 || steps[i - 1]!.stage !== stage);
  if (begins.length < 2) return [];
  return [`stages: ${begins.map(({ stage, step }) => `${stage} from step ${step}`).join(", ")}`];
}

export function whatIfLines(steps: readonly WhatIfStep[]): string[] {
  const last = steps.at(-1);
  if (last === undefined) return ["The history has no step."];
  const arms = Object.keys(last.shares).sort((a, b) => last.shares[b]!.mean - last.shares[a]!.mean);
  const named = Math.max(3, ...arms.slice(0, most).map((arm) => arm.length));
  const band = ({ mean, low, high }: ReplayBand): string =>
    `${percent(mean)} ${colours.dim(`(${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)})`)}`;
  return [
    colours.bold("what this curriculum would have drawn if each arm had been as hard as recorded"),
    ...arms.slice(0, most).map((arm) => {
      const curve = condensed(
        steps.map(({ shares: by }) => by[arm]?.mean ?? 0),
        width,
      );
      const support = last.support[arm] ?? 0;
      const doubt = support < 8 ? colours.yellow("  hardly recorded near the end") : "";
      return `${arm.padEnd(named)}  ${shares(curve, 1)}  ${band(last.shares[arm]!)}${doubt}`;
    }),
    ...(arms.length > most ? [colours.dim(`… and ${arms.length - most} more arms (--json has all)`)] : []),
    `solved at the end: ${band(last.success)}, rejected: ${band(last.rejected)}`,
    colours.dim(
      "The band holds eight of ten replays. No record says what the model would have learned from other tasks.",
    ),
  ];
}

export const simulationHead = (stage: string, seeds: number, steps: number): string[] => [
  colours.bold(`stage ${stage} on simulated learners: ${seeds} of each kind, ${steps} steps`),
  colours.dim(
    "The learner is a few numbers: this shows how the curriculum behaves, not what a model will reach.",
  ),
];

const spread = ({ mean, error }: Spread): string =>
  `${mean.toFixed(3)}${error === null ? "" : ` ± ${error.toFixed(3)}`}`;

/** With fewer pairs no flip of their signs is rare enough: the least p is 2 / 2ⁿ. */
const fewest = 6;

/** Which of two is better, as far as the seeds can tell. */
function verdict({ own, uniform }: { own: Spread; uniform: Spread }, p: number, seeds: number): string {
  if (seeds < fewest)
    return `${spread(own)}, uniform ${spread(uniform)} ${colours.dim(`(${seeds === 1 ? "one learner is" : `${seeds} learners are`} too few to rule out chance; use ${fewest} or more)`)}`;
  const what =
    p >= 0.05
      ? colours.dim("no significant difference")
      : own.mean > uniform.mean
        ? colours.green("better")
        : colours.red("worse");
  return `${spread(own)}, uniform ${spread(uniform)}: ${what} (p ${p < 0.001 ? "< 0.001" : p.toFixed(3)})`;
}

export function simulationLines({ name, summary }: Scenario, comparison: Comparison): string[] {
  const { final, equal, p, efficiency, mix, seeds, steps } = comparison;
  const thrift =
    efficiency === null
      ? "it does not reach the success of uniform sampling"
      : `it reaches the success of uniform sampling with ${(1 / efficiency).toFixed(2)} × the rollouts`;
  return [
    "",
    `${colours.bold(name)}  ${summary}`,
    `  after ${steps} updates     ${verdict(final, p.final, seeds)}`,
    `  after ${equal.rollouts} rollouts  ${verdict(equal, p.equal, seeds)}`,
    `  ${thrift}`,
    ...mixLines(mix),
  ];
}

/** Each level's share over the steps, all on one scale. */
function mixLines(mix: Comparison["mix"]): string[] {
  const levels = (mix[0] ?? []).map((_, level) =>
    condensed(
      mix.map((of) => of[level]!),
      width,
    ),
  );
  const top = Math.max(...levels.flat());
  return [
    colours.dim("  each level's share of the groups, from the first step to the last, and in the last"),
    ...levels.map(
      (of, level) => `  level ${String(level + 1).padStart(2)}  ${shares(of, top)}  ${percent(of.at(-1)!)}`,
    ),
  ];
}
