import { givenBy, helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { hasMaterial, type TaskMaterial } from "../tasks/taskMaterial.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Who asks the tasks for something, and for what. */
function asks({
  guidance,
  curriculum,
}: StageBody): { readonly path: readonly string[]; readonly what: TaskMaterial }[] {
  const { reads } = givenBy(guidance);
  const wanted = helps(guidance) && (reads === "solution" || reads === "answer") ? reads : undefined;
  return [
    ...(wanted === undefined ? [] : [{ path: ["guidance", "source"], what: wanted }]),
    ...(curriculum.start.declaration.name === "reverse"
      ? [{ path: ["curriculum", "start"], what: "solution" as const }]
      : []),
  ];
}

export const guidanceNeeds: Rule = {
  id: "guidance-needs",
  title: "Help that the tasks cannot provide",
  why: "A prefix of the solution, a demonstration, an expert's answer to rewrite and a reverse start are made from the task's own solution or answer. Most built-in environments write one for every task, and some worlds none; a dataset has one if `solution` or `answer` names it. Groups of other tasks get no help, and the run says so.\n\nAdd `solution: \"{field}\"` to the dataset, or choose a source that its tasks have (`field`, a file, a model).",
  check: eachRlStage((view, model) => {
    const { tasks } = view.config.body;
    if (tasks.length === 0) return;
    for (const { path, what } of asks(view.config.body)) {
      const without = tasks
        .map((task, index) => ({ task, index }))
        .filter(({ task }) => !hasMaterial(task, what));
      const [first] = without;
      if (first === undefined) continue;
      const all = without.length === tasks.length;
      const names = without.map(({ task }) => `\`${task.name}\``).join(", ");
      reportAt(model, view, guidanceNeeds, [[...path, "use"], path], {
        severity: all ? "error" : "warning",
        message: `\`${path.join(".")}\` is made from the tasks' ${what}, but ${all ? "no task has one" : `those of ${names} have none, so they get no help`}.`,
        fileFixes: [
          path.at(-1) === "start"
            ? model.edits.remove(
                pathIn(view, placeOf(view.body, ...path), ...path),
                "Remove `start`: rollouts begin at the prompt",
                false,
              )
            : undefined,
        ],
        related: [{ at: placeOf(view.body, "tasks", String(first.index)), message: `has no \`${what}\`` }],
      });
    }
  }),
};
