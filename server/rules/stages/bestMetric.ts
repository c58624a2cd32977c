import { notEvaluated } from "../knownNames.ts";
import { at as nodeAt, type Rule } from "../rule.ts";

/** The best checkpoint follows what held-out tasks say: a metric of training is of other tasks at every step. */
export const bestMetric: Rule = {
  id: "best-metric",
  title: "Best checkpoint by a metric of training",
  why: "`checkpoint.best` keeps the checkpoint with the best value of a metric of evaluations. A metric of training is measured on other tasks at every step, so its best value says more about the drawn tasks than about the policy.\n\nName a metric that begins with `eval/`.",
  check({ config, root, report }) {
    const metric = config.checkpoint.best?.metric;
    const node = nodeAt(root, "checkpoint", "best", "metric");
    if (metric === undefined || node === undefined) return;
    const problem = notEvaluated(config, metric, node.origin);
    if (problem === undefined) return;
    report({
      rule: bestMetric.id,
      message: `\`${metric}\` is not a metric of evaluations. ${problem.hint}`,
      key: "checkpoint.best.metric",
      at: node.origin,
      fixes: problem.fixes,
    });
  },
};
