import type { TaskConfig } from "../../core/config/resolved.ts";
import { environmentOf } from "../tasks/environments.ts";
import type { StageView } from "../../config/check/model.ts";
import { isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

/** The difficulties of a task, where they are whole numbers. */
function levels(task: TaskConfig): number[] {
  const environment = environmentOf(task);
  const values = environment.kind === "made" ? environment.values.map(Number) : [];
  return values.every(Number.isInteger) ? values : [];
}

/** By task, the difficulties that some stage trains. */
function levelsTrained(stages: readonly StageView[]): ReadonlyMap<string, ReadonlySet<number>> {
  const trained = new Map<string, Set<number>>();
  for (const { config } of stages)
    for (const task of config.body.tasks) {
      const known = trained.get(task.name) ?? new Set();
      for (const level of levels(task)) known.add(level);
      trained.set(task.name, known);
    }
  return trained;
}

/** Between the easiest and the hardest difficulty that is trained none is left out that is measured. */
export const curriculumGap: Rule = {
  id: "curriculum-gap",
  title: "Difficulty that the curriculum skips",
  why: "Evaluation uses the top-level tasks, whatever the stages train on. If no stage trains a difficulty between the easiest and the hardest of a task's stages, that difficulty is measured but never practised. A difficulty outside that range may be meant as a test of generalisation and is not reported.\n\nAdd the difficulty to a stage, or take it out of the top-level task.",
  check(model) {
    const rl = model.stages.filter(({ config }) => config.kind === "rl");
    const byTask = levelsTrained(rl);
    for (const [index, task] of model.config.top.tasks.entries()) {
      const trained = byTask.get(task.name) ?? new Set();
      const gap = levels(task).filter((level) => !trained.has(level) && isBetween(level, [...trained]));
      const last = rl.findLast((view) => isOwn(placeOf(view.body, "tasks")) && view.written !== undefined);
      if (gap.length === 0 || last === undefined) continue;
      const named = gap.map((level) => `\`${task.name}/${level}\``).join(" and ");
      reportAt(model, last, curriculumGap, [["tasks", String(index)], ["tasks"]], {
        severity: "warning",
        message: `${named} ${gap.length === 1 ? "is" : "are"} evaluated, but no stage trains ${gap.length === 1 ? "it" : "them"}: the stages train ${[...trained].sort((a, b) => a - b).join(", ")}.`,
        related: [{ at: placeOf(model.root, "tasks", String(index)), message: "the evaluated difficulties" }],
      });
    }
  },
};

const isBetween = (level: number, others: readonly number[]): boolean =>
  others.some((other) => other < level) && others.some((other) => other > level);
