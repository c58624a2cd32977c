import { gridSize, sweepChoices, sweepSeeds } from "../../config/sweep/trials.ts";
import { mostTrials, type SweepConfig } from "../../core/blocks/sweep.ts";
import { formatCount, plural } from "../../../shared/lib/format.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import type { DiagnosticReport } from "../../config/check/report.ts";
import { keyOf, placeOf, type Rule } from "../rule.ts";
import { parameterProblem } from "./parameterProblem.ts";

/** Runs that hardly anybody waits for. */
const many = 200;

/** How many runs a sweep has. */
export const sweepTrials: Rule = {
  id: "sweep-trials",
  title: "Sweep of too many runs, or of one",
  why: "A sweep trains one run after the other. A grid has the product of the numbers of values, times the seeds: three keys with five values each and three seeds are 375 runs. `method: random` with `trials` covers the same ranges with as many runs as there is time for, and each of them has another value of every key.\n\n`random` has no end of its own, so it needs `trials`; a grid ends with its last combination.",
  check(model) {
    const { sweep, seed } = model.config;
    if (sweep === undefined) return;
    if (sweep.parameters.some((parameter) => parameterProblem(parameter, sweep.method) !== undefined)) return;
    for (const problem of [methodProblem(sweep), countProblem(sweep, seed)])
      if (problem !== undefined) report(model, problem);
  },
};

type Problem = Pick<DiagnosticReport, "severity" | "message"> & {
  readonly key?: "trials";
  /** The key says nothing here. */
  readonly idle?: true;
};

function report({ root, report: say, edits }: ConfigModel, { key, idle, ...problem }: Problem): void {
  const path = key === undefined ? ["sweep"] : ["sweep", key];
  const at = placeOf(root, "sweep", "trials");
  say({
    rule: sweepTrials.id,
    key: path.join("."),
    at: (key === "trials" ? at : undefined) ?? keyOf(root, "sweep") ?? root.origin,
    ...problem,
    ...(idle === true && { fileFixes: [edits.remove(path, "Remove `trials`")] }),
  });
}

function methodProblem({ method, parameters, trials }: SweepConfig): Problem | undefined {
  if (method === "random" && trials === undefined)
    return { message: "`method: random` needs `trials`: how many combinations are drawn." };
  if (method === "random" && parameters.length === 0)
    return { message: "`method: random` draws values of `parameters`, and there are none. Add one." };
  return method === "grid" && trials !== undefined
    ? {
        key: "trials",
        idle: true,
        severity: "warning",
        message: `A grid tries all of its ${plural(gridSize(parameters), "combination")}, whatever \`trials\` says. Remove it, or take \`method: random\`.`,
      }
    : undefined;
}

function countProblem(sweep: SweepConfig, seed: number): Problem | undefined {
  const seeds = sweepSeeds(sweep, seed).length;
  if (sweep.method === "random" && (sweep.trials === undefined || sweep.parameters.length === 0))
    return undefined;
  const wanted = sweep.method === "grid" ? gridSize(sweep.parameters) : (sweep.trials ?? 0);
  if (wanted * seeds > mostTrials)
    return {
      message: `These are ${formatCount(wanted * seeds)} runs, and a sweep has at most ${formatCount(mostTrials)}. Take fewer values, or \`method: random\` with \`trials\`.`,
    };
  const count = sweep.method === "grid" ? wanted : sweepChoices(sweep, seed).length;
  if (count * seeds === 1)
    return {
      severity: "warning",
      message:
        "This sweep is a single run. Add `parameters` with several values, or several `seeds`, or remove `sweep`.",
    };
  if (count < wanted)
    return {
      severity: "warning",
      key: "trials",
      message: `\`trials\` is ${wanted}, but the values have only ${plural(count, "combination")} that differ: each is run once.`,
    };
  return count * seeds > many
    ? {
        severity: "warning",
        message: `These are ${formatCount(count * seeds)} runs (${plural(count, "combination")}, ${plural(seeds, "seed")}), one after the other. Take fewer values, or \`method: random\` with \`trials\`.`,
      }
    : undefined;
}
