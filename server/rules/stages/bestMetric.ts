import { notEvaluated } from "../knownNames.ts";
import { at as nodeAt, type Rule } from "../rule.ts";

/** What an evaluation decides goes by held-out tasks: a metric of training is of other tasks at every step. */
export const bestMetric: Rule = {
  id: "best-metric",
  title: "Best checkpoint by a metric of training",
  why: "`checkpoint.best` keeps the checkpoint with the best value of a metric of evaluations, and `evaluation.keep` undoes what such a metric finds worse. A metric of training is measured on other tasks at every step, so its value says more about the drawn tasks than about the policy.\n\nName a metric that begins with `eval/`.",
  check({ config, root, report }) {
    const wishes = [
      { path: ["checkpoint", "best", "metric"], metric: config.checkpoint.best?.metric },
      { path: ["evaluation", "keep", "metric"], metric: config.evaluation.keep?.metric },
    ];
    for (const { path, metric } of wishes) {
      const node = nodeAt(root, ...path);
      if (metric === undefined || node === undefined) continue;
      const problem = notEvaluated(config, metric, node.origin);
      if (problem === undefined) continue;
      report({
        rule: bestMetric.id,
        message: `\`${metric}\` is not a metric of evaluations. ${problem.hint}`,
        key: path.join("."),
        at: node.origin,
        fixes: problem.fixes,
      });
    }
  },
};
