/** Over what a curve is, how many that are, and why that matters: pure. */
import { formatNumber, plural } from "../../shared/lib/format.ts";
import type { Population } from "../shared/chart.ts";
import type { Over, RunView } from "./models.ts";

/** @param step the cursor's; null: the last */
export function populationOf(over: Over, view: RunView, step: number | null): Population {
  if (view.run.summary.origin !== undefined && over !== "held-out") return asRecorded(view);
  const at = (metric: string): number | null =>
    step === null ? view.series.at(metric) : view.series.near(metric, step);
  const [drawn, admitted] = [at("groups/drawn"), at("groups/admitted")];
  switch (over) {
    case "all":
      return all(
        at("rollout/count") ?? (drawn === null || view.run.group === null ? null : drawn * view.run.group),
        at("rollout/scored"),
      );
    case "drawn":
      return {
        text: `all${drawn === null ? "" : ` · ${plural(drawn, "group")}`}`,
        over: "over all groups that were drawn",
        why: "Over every group that was drawn in the step, admitted to training or not.",
      };
    case "admitted":
      return admittedOf(drawn, admitted);
    case "held-out": {
      const tasks = view.evaluations.findLast(
        (row) => row.tasks !== undefined && (step === null || row.step <= step),
      )?.tasks;
      return {
        text: `held-out${tasks === undefined ? "" : ` · ${plural(tasks, "task")}`}`,
        over: "over held-out tasks",
        why: "Over tasks that never train: what the policy can do elsewhere. The bars are 95 % intervals over the tasks, where each task's outcome was recorded.",
      };
    }
  }
}

function all(count: number | null, scored: number | null): Population {
  const some = count !== null && scored !== null && scored < count;
  return {
    text: `all${count === null ? "" : some ? ` · ${formatNumber(scored)} of ${plural(count, "rollout")}` : ` · ${plural(count, "rollout")}`}`,
    over: "over all rollouts that were scored",
    why: some
      ? "Over every rollout of the step that has a reward. The others failed to be scored: their rewards are not 0, they are missing."
      : "Over every rollout of the step, admitted to training or not.",
  };
}

function admittedOf(drawn: number | null, admitted: number | null): Population {
  const known = drawn !== null && admitted !== null;
  const filtered = known && admitted < drawn;
  const left = filtered
    ? `${plural(drawn - admitted, "group")} of the step ${drawn - admitted === 1 ? "was" : "were"} left out, so this curve cannot show them. It may look flat while the policy improves: what gets easy leaves it.`
    : "Groups that admission leaves out are not in it, so it may look flat while the policy improves.";
  return {
    text: known ? `admitted · ${formatNumber(admitted)} of ${plural(drawn, "group")}` : "admitted",
    over: "over the groups that were admitted to training",
    why:
      known && !filtered
        ? "Over the groups that were admitted to training: all that were drawn."
        : `Over the groups that were admitted to training. ${left}`,
  };
}

const asRecorded = ({ run }: RunView): Population => ({
  text: "as recorded",
  over: "over what the trainer recorded",
  why: `Over what ${run.summary.origin?.trainer ?? "the trainer"} recorded. A trainer that filters its groups before it records them, as DAPO does, leaves out what is all right and all wrong: then this curve may look flat while the policy improves.`,
});
