import { conditionsOf } from "./conditionsOf.ts";
import type { Condition } from "../../core/blocks/stage.ts";
import { metricsOf } from "../knownNames.ts";
import type { StageView } from "../../config/check/model.ts";
import { at as nodeAt, keyOf, type Rule } from "../rule.ts";

/** Values that the metric has within the stage: one a step, or one an evaluation. */
function valuesIn({ config }: StageView, until: Condition, every: number): number {
  if (!until.metric.startsWith("eval/")) return config.steps;
  // One may be due on entering, whatever the step; then one every so many steps.
  return 1 + Math.floor(config.steps / every);
}

/** The stage is long enough for its condition to be asked. */
export const untilWindow: Rule = {
  id: "until-window",
  title: "Window longer than the stage",
  why: "A condition looks at the mean of the last `window` values, by default 10 of a step's metric and 1 of an evaluation's, and a stage begins with none. With `patience` it has to hold for that many values in a row. A stage that ends before there are that many values never checks its condition.\n\nShorten the window, or give the stage more steps. If the window is the default, this is only a note: in a short trial run it does not matter.",
  check({ config, stages, report, edits }) {
    const all = stages.flatMap((view) => conditionsOf(view).map((written) => ({ view, ...written })));
    for (const { view, condition: until, place } of all) {
      const { steps, name, kind } = view.config;
      // Only rl stages are evaluated; a condition of another kind has its own diagnostic.
      if (kind !== "rl" && kind !== "alternate" && until.metric.startsWith("eval/")) continue;
      // A missing metric has no values in any number of steps; another rule reports it.
      const { exact, open } = metricsOf(config, view.config);
      if (!exact.includes(until.metric) && !open.some((start) => until.metric.startsWith(start))) continue;
      const bounded = until.above !== undefined || until.below !== undefined;
      const wanted = until.window + (until.patience ?? 1) - (bounded ? 1 : 0);
      const there = valuesIn(view, until, config.evaluation.every);
      const at = nodeAt(view.written, ...place, "window")?.origin ?? keyOf(view.written, "until");
      if (there >= wanted || at === undefined) continue;
      const patience = wanted - until.window;
      const sum = patience === 0 ? "" : ` (${until.window} of the window + ${patience} of \`patience\`)`;
      const least = there - patience;
      report({
        rule: untilWindow.id,
        severity: nodeAt(view.written, ...place, "window") === undefined ? "info" : "warning",
        message: `The condition is never checked: it needs ${wanted} values of \`${until.metric}\`${sum}, and ${steps} steps give at most ${there}.`,
        key: `${view.path}.${place.join(".")}.window`,
        at,
        fileFixes: [
          least < 1
            ? undefined
            : edits.set(
                ["stages", name, ...place, "window"],
                String(least),
                `Set \`window\` to ${least} (= ${there} values${patience === 0 ? "" : ` − ${patience} of patience`})`,
              ),
        ],
      });
    }
  },
};
