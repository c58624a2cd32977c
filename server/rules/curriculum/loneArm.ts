import type { StageBody } from "../../core/config/resolved.ts";
import type { Declaration } from "../../core/declaration.ts";
import { environmentOf } from "../tasks/environments.ts";
import { isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

const many = ({ name, gives = [] }: Declaration): boolean =>
  gives.includes("tasks") || gives.includes("points") || name === "fields";

/** A sampler that learns has at least two arms to choose between. */
export const loneArm: Rule = {
  id: "lone-arm",
  title: "Curriculum with one arm",
  why: "A sampler weighs arms, which are tasks or the difficulties of a task, by their estimates. With a single arm every draw is that arm, whatever the sampler, signal and estimator are (Self-Evolving Curriculum chooses among several by a Boltzmann distribution over their mean absolute advantages).\n\nGive the task several difficulties (`numbers: [3, 4, 5]`), add a task, or remove the sampler.",
  check(model) {
    const choosing = model.stages.filter(({ config }) => config.kind === "rl" && !isLone(config.body));
    for (const view of model.stages) {
      const { kind, body } = view.config;
      const { sampler } = body.curriculum;
      const place = placeOf(view.body, ...path);
      if (kind !== "rl" || sampler.declaration.name === "uniform" || !isOwn(place) || !isLone(body)) continue;
      // Written once for all stages: one of them may well begin with a single arm.
      if (place.stage === undefined && choosing.length > 0) continue;
      reportAt(model, view, loneArm, [path, ["curriculum"]], {
        severity: "warning",
        message: `There is one arm to draw from, \`${body.tasks[0]?.name ?? ""}\`: \`${sampler.declaration.name}\` has nothing to choose.`,
        related: [{ at: placeOf(view.body, "tasks"), message: "the only arm" }],
        fileFixes: [model.edits.remove(pathIn(view, place, ...path), "Remove the sampler", false)],
      });
    }
  },
};

const path = ["curriculum", "sampler"];

/** Whether everything that a stage draws from is one arm. */
function isLone({ curriculum: { arms }, tasks }: StageBody): boolean {
  const name = arms.declaration.name;
  if (name === "none") return true;
  // Single tasks, points of a box and values of a dataset's fields are many, whatever the tasks are.
  if (many(arms.declaration)) return false;
  if (name !== "difficulty") return tasks.length === 1;
  const sizes = tasks.map((task) => {
    const environment = environmentOf(task);
    return environment.kind === "made" ? Math.max(1, environment.values.length) : Number.POSITIVE_INFINITY;
  });
  return sizes.reduce((sum, size) => sum + size, 0) <= 1;
}
