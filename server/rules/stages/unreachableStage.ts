import { saysTheSame } from "../../config/text/node.ts";
import type { Condition, Until } from "../../core/blocks/stage.ts";
import { keyOf, type Rule } from "../rule.ts";

/** Whether what ended one stage also ends the next: the same metric, and no bound that is stricter. */
function implies(earlier: Condition, later: Condition): boolean {
  const { above, below } = later;
  if (earlier.metric !== later.metric || (above === undefined && below === undefined)) return false;
  return (
    (above === undefined || (earlier.above !== undefined && earlier.above >= above)) &&
    (below === undefined || (earlier.below !== undefined && earlier.below <= below))
  );
}

/** Whether what ended one stage ends the next: a condition that is enough for it was met. */
function over(earlier: Until, later: Until): boolean {
  const met = (one: Condition): boolean =>
    earlier.of === "any"
      ? earlier.conditions.every((before) => implies(before, one))
      : earlier.conditions.some((before) => implies(before, one));
  return later.of === "any" ? later.conditions.some(met) : later.conditions.every(met);
}

/** A stage that begins where its own condition holds already. */
export const unreachableStage: Rule = {
  id: "unreachable-stage",
  title: "Stage that ends as it begins",
  why: "A stage ends when its `until` holds. If the stage before it ended by the same condition, or a stricter one, on the same tasks, the metric has already reached the bound: the stage lasts only until its window is full and changes nothing.\n\nRaise the bound, change what the stage trains on, or merge the two stages.",
  check({ stages, report, edits }) {
    const rl = stages.filter(({ config }) => config.kind === "rl");
    for (const [index, view] of rl.entries()) {
      const before = rl[index - 1];
      const [earlier, later] = [before?.config.until, view.config.until];
      const at = keyOf(view.written, "until");
      if (before === undefined || earlier === undefined || later === undefined || at === undefined) continue;
      if (!over(earlier, later) || !saysTheSame(before.body, view.body)) continue;
      const metrics = [...new Set(later.conditions.map(({ metric }) => `\`${metric}\``))].join(", ");
      const window = Math.max(...later.conditions.map((condition) => condition.window));
      report({
        rule: unreachableStage.id,
        severity: "warning",
        message: `\`${before.config.name}\` ends once ${metrics} has reached the bound, on the same tasks with the same options, so \`${view.config.name}\` ends after ${window} ${window === 1 ? "value" : "values"}.`,
        key: `${view.path}.until`,
        at,
        related: [{ at: keyOf(before.written, "until"), message: `\`${before.config.name}\` ends here` }],
        fileFixes: [
          edits.remove(["stages", view.config.name], `Remove the stage \`${view.config.name}\``, false),
        ],
      });
    }
  },
};
