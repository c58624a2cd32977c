import { keyOf, mine, placeOf, type Rule } from "../rule.ts";
import { parameterProblem } from "./parameterProblem.ts";

/** A parameter has values to try. */
export const sweepParameter: Rule = {
  id: "sweep-parameter",
  title: "Sweep over a parameter without values",
  why: "Each parameter of `sweep` has `values`, or a range from `min` to `max`. A grid tries each value, so a range needs a `step` there; `method: random` draws from the range, evenly in the value or, with `scale: log`, in its logarithm, as suits learning rates.\n\n`seed` is swept by `sweep.seeds`. `evaluation` cannot be swept: what is measured on other tasks, or another number of them, cannot be ranked.",
  check({ config: { sweep }, file, root, report, edits }) {
    for (const parameter of sweep?.parameters ?? []) {
      const problem = parameterProblem(parameter, sweep!.method);
      if (problem === undefined) continue;
      const path = ["sweep", "parameters", parameter.key];
      const place = problem.key === undefined ? keyOf(root, ...path) : placeOf(root, ...path, problem.key);
      report({
        rule: sweepParameter.id,
        message: problem.message,
        key: path.join("."),
        at: mine(file, place) ?? root.origin,
        ...(problem.idle === true && {
          fileFixes: [edits.remove(problem.key === undefined ? path : [...path, problem.key], "Remove it")],
        }),
      });
    }
  },
};
