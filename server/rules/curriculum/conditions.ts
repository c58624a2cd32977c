import type { Condition } from "../../core/blocks/stage.ts";
import type { StageKind } from "../../../shared/run/stageKinds.ts";
import { conditionsOf } from "./conditionsOf.ts";
import { at as nodeAt, eachStage, keyOf, type Rule } from "../rule.ts";

function problemOf(kind: StageKind, { metric, above, below, patience }: Condition): string | undefined {
  if (above === undefined && below === undefined && patience === undefined)
    return "This condition never holds: say with `above` or `below` which value the metric has to cross, or with `patience` how many values may pass without an improvement.";
  if (kind !== "rl" && kind !== "alternate" && metric.startsWith("eval/"))
    return `This condition never holds: a stage of kind ${kind} is not evaluated, so \`${metric}\` has no values in it.`;
  return undefined;
}

/** A condition has a side; a stage that waits for one says how long at most. */
export const condition: Rule = {
  id: "until",
  title: "Condition that never ends its stage",
  why: "`until` ends a stage when its metric is above or below a value, or has stopped improving (`patience`). Without any of these it never holds. A condition on `eval/…` holds only in an rl stage, because other kinds are not evaluated. In `all`, one condition that never holds is enough to keep the stage going for all of its steps.\n\nA stage also ends after its `steps`. If they are not written, the default applies, and the next stage begins whether or not the metric reached its bound: say how many steps the stage may take.",
  check: eachStage((view, { report, edits }) => {
    const { config, written, path } = view;
    const at = keyOf(written, "until");
    // A stage that only takes turns never ends by its own condition, which another rule reports.
    if (config.until === undefined || at === undefined || config.part) return;
    for (const { condition: one, place } of conditionsOf(view)) {
      const wrong = problemOf(config.kind, one);
      if (wrong === undefined) continue;
      report({
        rule: condition.id,
        message: wrong,
        key: `${path}.${place.join(".")}`,
        at: place.length === 1 ? at : (nodeAt(written, ...place)?.origin ?? at),
        fileFixes: [edits.remove(["stages", config.name, "until"], "Remove `until`", false)],
      });
    }
    if (nodeAt(written, "steps") === undefined) {
      report({
        rule: condition.id,
        severity: "warning",
        message: `Without \`steps\` the stage ends after at most ${config.steps} steps, whether or not the metric reaches its bound: say how many steps it may take.`,
        key: `${path}.until`,
        at,
        fileFixes: [
          edits.set(
            ["stages", config.name, "steps"],
            String(config.steps),
            `Insert \`steps: ${config.steps}\`, the value in effect`,
          ),
        ],
      });
    }
  }),
};
