import { at as nodeAt, firstTime, reportAt, type Rule } from "../rule.ts";
import { ownFileProblem, problemReport } from "../ownFileProblem.ts";

/** A reward's file exists and has the function; found by parsing, nothing is executed. */
export const rewardFile: Rule = {
  id: "reward-file",
  title: "Missing reward function",
  why: "`path` or `path:function` names a reward in your own file. The file is parsed, never executed: TypeScript and JavaScript for their exports, Python for its top-level names. A run would stop before its first step.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      for (const term of view.config.body.reward.terms) {
        const { file: path } = term.term.params;
        const written = nodeAt(view.body, "reward", "terms", term.name, "use");
        if (typeof path !== "string" || !fresh(written ?? term.term)) continue;
        const problem = ownFileProblem(term.term, `the reward \`${term.name}\``, model.file);
        if (problem === undefined) continue;
        reportAt(model, view, rewardFile, [["reward", "terms", term.name, "use"]], problemReport(problem));
      }
    }
  },
};
