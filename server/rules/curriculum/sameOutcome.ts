import { basename } from "node:path";
import { linesOfTask } from "../../core/datasetLines.ts";
import { perObject } from "../../lib/perObject.ts";
import { comparesSiblings } from "../../config/siblings.ts";
import type { TaskConfig } from "../../core/config/resolved.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";
import { mean } from "../../../shared/lib/mean.ts";

/** Fields in which data sets say how often a model solved a task. */
const measured = /(?:^|_)(?:pass|solve|success)_?rate$/i;

/** Chance that all of a group are right, or all wrong: pⁿ + (1 − p)ⁿ. */
const sameChance = (rate: number, group: number): number => rate ** group + (1 - rate) ** group;

interface Rates {
  readonly file: string;
  readonly field: string;
  readonly rates: readonly number[];
}

/** What a data set says of its lines' pass rates; undefined where it says nothing. */
const ratesOf = perObject((source: TaskConfig["source"]): Rates | undefined => {
  const { dataset: file } = source.params;
  const lines = linesOfTask(source);
  const field = Object.keys(lines?.[0]?.row ?? {}).find((key) => measured.test(key));
  if (typeof file !== "string" || lines === undefined || field === undefined) return undefined;
  const rates = lines.flatMap(({ row }) => {
    const rate = row?.[field];
    return typeof rate === "number" && rate >= 0 && rate <= 1 ? [rate] : [];
  });
  return rates.length === 0 ? undefined : { file, field, rates };
});

/** Most groups have rollouts that differ. */
export const sameOutcome: Rule = {
  id: "same-outcome",
  title: "Most groups would be all correct or all wrong",
  why: "If a task is solved with probability p, a group of n rollouts is all correct or all wrong with probability pⁿ + (1 − p)ⁿ, and then every advantage that compares rollouts of a group is 0. If a dataset records how often its tasks were solved (`pass_rate`, `solve_rate`, `success_rate`), its first lines show what share of the groups that would be. The rates depend on the model that measured them.\n\nMake the groups larger, leave out tasks that are nearly always or never solved (`success_band` with a refill), or choose easier ones.",
  check: eachRlStage((view, model) => {
    const { tasks, rollout, advantage, curriculum } = view.config.body;
    const compares = comparesSiblings(advantage.baseline) || comparesSiblings(advantage.scale);
    // With a refill groups that teach nothing are replaced.
    const replaced = curriculum.refill.declaration.name !== "none";
    if (!compares || replaced || rollout.group < 2) return;
    for (const task of tasks) {
      const found = ratesOf(task.source);
      const share = (group: number): number =>
        mean(found?.rates.map((rate) => sameChance(rate, group)) ?? []);
      if (found === undefined || !(share(rollout.group) > 0.5)) continue;
      const enough = [4, 8, 16, 32, 64].find((group) => group > rollout.group && share(group) <= 0.5);
      const path = pathIn(view, placeOf(view.body, "rollout", "group"), "rollout", "group");
      reportAt(model, view, sameOutcome, [["rollout", "group"], ["tasks"]], {
        severity: "warning",
        message: `By the \`${found.field}\` of the first ${found.rates.length} lines of \`${basename(found.file)}\` ${percent(share(rollout.group))} of the groups of ${rollout.group} would be all correct or all wrong (mean of pⁿ + (1 − p)ⁿ): nothing is learned from them.`,
        fileFixes: [
          enough === undefined
            ? undefined
            : model.edits.set(
                path,
                String(enough),
                `Change \`rollout.group\` to ${enough} (${percent(share(enough))} of the groups all correct or all wrong)`,
                false,
              ),
        ],
      });
    }
  }),
};

const percent = (share: number): string => `${Math.round(100 * share)} %`;
