import { keyOf, at as nodeAt, type Rule } from "./rule.ts";

/** A condition has a side; a stage that waits for one says how long at most. */
export const condition: Rule = {
  id: "until",
  check({ stages, report }) {
    for (const { config, written, path } of stages) {
      const { until } = config;
      const at = keyOf(written, "until");
      if (until === undefined || at === undefined) continue;
      if (until.above === undefined && until.below === undefined) {
        report({
          rule: condition.id,
          message: "This condition never holds: say `above` or `below` which value the metric has to be.",
          key: `${path}.until`,
          at,
        });
      }
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
