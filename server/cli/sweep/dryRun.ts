/** `gradus run FILE --dry-run` of a sweep: the runs that it would make, and nothing is started. */
import { plural } from "../../../shared/lib/format.ts";
import type { SweepPlan } from "../../analysis/sweep/plan.ts";
import { valueText } from "../../analysis/compare/label.ts";
import { print, printJson } from "../command.ts";
import { colours } from "../text/colours.ts";
import { tableLines } from "../text/table.ts";
import { headsOf } from "./tableText.ts";

export function dryRunSweep({ id, trials, sweep, better }: SweepPlan, json: boolean | undefined): void {
  if (json === true) {
    const listed = trials.map(({ number, seed, choice }) => ({ trial: number, seed, values: choice }));
    return printJson({ type: "sweep", sweep: id, metric: sweep.metric, better, trials: listed });
  }
  const keys = sweep.parameters.map(({ key }) => key);
  const [head = "", ...lines] = tableLines(
    [
      { head: "", align: "right" },
      ...headsOf(keys).map((text) => ({ head: text, align: "right" as const })),
      { head: "seed", align: "right" },
    ],
    trials.map(({ number, choice, seed }) => [
      String(number),
      ...keys.map((key) => valueText(choice[key])),
      String(seed),
    ]),
  );
  print([`${colours.bold(id)}  ${plural(trials.length, "run")}`, "", colours.dim(head), ...lines].join("\n"));
}
