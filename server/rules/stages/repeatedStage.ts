import { saysTheSame } from "../../config/text/node.ts";
import type { StageView } from "../../config/check/model.ts";
import { at as nodeAt, isOwn, type Rule } from "../rule.ts";

const isRepeated = ({ config: before, body }: StageView, { config: now, body: later }: StageView): boolean =>
  before.kind === now.kind &&
  JSON.stringify(before.until) === JSON.stringify(now.until) &&
  saysTheSame(body, later);

/** Two stages in a row differ in something. */
export const repeatedStage: Rule = {
  id: "repeated-stage",
  title: "Stage that changes nothing",
  why: "A stage overrides blocks of the config. A stage with the same overrides as the one before it, no action when it begins and the same condition to end is only a continuation: the boundary between them is nothing but a mark on the chart.\n\nAdd what the stage was meant to change, or give the earlier one the steps of both.",
  check({ stages, report, edits }) {
    for (const [index, view] of stages.entries()) {
      const before = stages[index - 1];
      const at = view.written?.origin;
      if (before === undefined || view.config.kind !== "rl" || view.config.part || !isOwn(at)) continue;
      // The same condition twice is the matter of `unreachable-stage`, the same name that of `duplicate-name`.
      if (view.config.until !== undefined || before.config.name === view.config.name) continue;
      if (nodeAt(view.written, "on_enter") !== undefined || !isRepeated(before, view)) continue;
      report({
        rule: repeatedStage.id,
        severity: "warning",
        message: `\`${view.config.name}\` is the same as \`${before.config.name}\` before it: nothing changes where it begins.`,
        key: view.path,
        at,
        related: [{ at: before.written?.origin, message: "the same stage" }],
        fileFixes: [
          edits.remove(["stages", view.config.name], `Remove the stage \`${view.config.name}\``, false),
        ],
      });
    }
  },
};
