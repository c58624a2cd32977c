import { notEvaluated } from "../knownNames.ts";
import { isOwn, keyOf, placeOf, type Rule } from "../rule.ts";

/** Runs are ranked by what held-out tasks say. */
export const sweepMetric: Rule = {
  id: "sweep-metric",
  title: "Sweep ranked by a metric that evaluations do not have",
  why: "`sweep.metric` ranks the combinations of a sweep and says which runs are stopped early. It is a metric of evaluations: all runs answer the same held-out tasks there, while metrics of training are of the tasks that each run drew.",
  check({ config, root, report }) {
    if (config.sweep === undefined) return;
    const { metric } = config.sweep;
    const written = placeOf(root, "sweep", "metric");
    const at = isOwn(written) ? written : (keyOf(root, "sweep") ?? root.origin);
    const problem = notEvaluated(config, metric, at);
    if (problem === undefined) return;
    report({
      rule: sweepMetric.id,
      message: `\`${metric}\` is not a metric of evaluations. ${problem.hint}`,
      key: "sweep.metric",
      at,
      fixes: at === written ? problem.fixes : [],
    });
  },
};
