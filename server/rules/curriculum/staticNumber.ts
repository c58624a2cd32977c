/** `estimator: static` reads a number of every arm, and not every division's arms have one. */
import type { Fix } from "../../config/check/diagnostic.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What a single task has. */
const ofTasks = ["prompt_length", "solution_length", "steps", "field"];
/** Divisions whose arms' names end in a value of the task's. */
const valued = ["difficulty", "fields"];
const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

export const staticNumber: Rule = {
  id: "static-number",
  title: "Arms without the number that `static` reads",
  why: "`estimator: static` knows one number of every arm from the start. With `by: value` it is the arm's own value, the part of its name after the last `/`: the 3 of `countdown/3`. The other kinds (`field`, `prompt_length`, `solution_length`, `steps`) read it from a task, so each arm must be a single task (`arms: prompt`); `by: field` must also name the field.\n\nThe message lists what fits the chosen arms.",
  check: eachStage((view, model) => {
    const { kind, body } = view.config;
    if (kind === "rl" && body.curriculum.estimator.declaration.name === "static") inspect(model, view);
  }),
};

function inspect(model: ConfigModel, view: StageView): void {
  const { arms, estimator } = view.config.body.curriculum;
  const { name, gives = [] } = arms.declaration;
  const by = String(estimator.params["by"]);
  const single = gives.includes("tasks");
  const toValue = set(model, view, ["curriculum", "estimator", "by"], "value");
  const toTasks = set(model, view, ["curriculum", "arms"], "prompt");
  if (by !== "value" && !single)
    complain(
      model,
      view,
      `\`by: ${by}\` reads single tasks, but the arms of \`${name}\` are sets of them. Choose \`arms: prompt\`${valued.includes(name) ? ", or `by: value`" : ""}.`,
      valued.includes(name) ? [toValue, toTasks] : [toTasks],
    );
  else if (by === "value" && single)
    complain(
      model,
      view,
      `Arms that are single tasks have no value: set \`by\` to one of ${quoted(ofTasks)}, or choose the arms ${quoted(valued)}.`,
      ofTasks
        .slice(0, 3)
        .map((other) =>
          set(model, view, ["curriculum", "estimator"], `{ use: static, by: ${other} }`, `by: ${other}`),
        ),
    );
  else if (by === "value" && !valued.includes(name))
    complain(
      model,
      view,
      `The arms of \`${name}\` have no value: choose the arms ${quoted(valued)}, or \`prompt\` with \`by\` one of ${quoted(ofTasks)}.`,
      [set(model, view, ["curriculum", "arms"], "difficulty")],
    );
  else if (by === "field" && estimator.params["field"] === undefined)
    complain(model, view, "`by: field` needs `field`: the name of a number in every task's data.", []);
}

function set(
  { edits }: ConfigModel,
  view: StageView,
  keys: readonly string[],
  value: string,
  title = `${keys.at(-1)}: ${value}`,
): Fix | undefined {
  return edits.set(
    pathIn(view, placeOf(view.body, ...keys), ...keys),
    value,
    `Change to \`${title}\``,
    false,
  );
}

function complain(
  model: ConfigModel,
  view: StageView,
  message: string,
  fileFixes: readonly (Fix | undefined)[],
): void {
  const estimator = ["curriculum", "estimator"];
  const arms = ["curriculum", "arms"];
  const places = [[...estimator, "by"], estimator, arms];
  // A stage that has changed the arms alone is where it went wrong.
  const late = [arms, estimator].map((path) => placeOf(view.body, ...path)?.stage !== undefined);
  reportAt(model, view, staticNumber, late[0] === true && late[1] === false ? [arms] : places, {
    message,
    fileFixes,
  });
}
