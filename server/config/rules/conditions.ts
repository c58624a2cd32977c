import type { Condition } from "../resolved.ts";
import { keyOf, at as nodeAt, type Rule } from "./rule.ts";

function problemOf(kind: "sft" | "rl", { metric, above, below, patience }: Condition): string | undefined {
  if (above === undefined && below === undefined && patience === undefined)
    return "This condition never holds: say `above` or `below` which value the metric has to be, or with `patience` after how many values without an improvement.";
  if (kind === "sft" && metric.startsWith("eval/"))
    return `This condition never holds: an sft stage is not evaluated, so \`${metric}\` has no values in it.`;
  return undefined;
}

/** A condition has a side; a stage that waits for one says how long at most. */
export const condition: Rule = {
  id: "until",
  check({ stages, report }) {
    for (const { config, written, path } of stages) {
      const { until } = config;
      const at = keyOf(written, "until");
      if (until === undefined || at === undefined) continue;
      const wrong = problemOf(config.kind, until);
      if (wrong !== undefined) report({ rule: condition.id, message: wrong, key: `${path}.until`, at });
      if (nodeAt(written, "steps") === undefined) {
        report({
          rule: condition.id,
          severity: "warning",
          message: `Without \`steps\` the stage ends after ${config.steps} at the latest, whether or not the metric gets there: say how many it may take.`,
          key: `${path}.until`,
          at,
        });
      }
    }
  },
};
