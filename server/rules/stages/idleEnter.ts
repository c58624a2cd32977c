import { modelsRead } from "../../algorithm/loss/modelsRead.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, eachStage, isOwn, placeOf, type Rule } from "../rule.ts";

type Action = "refresh_reference" | "reset_optimizer";

/** What the stage asks for, in the words of the list form. */
const actionsOf = ({ config: { on_enter } }: StageView): Action[] => [
  ...(on_enter.refreshReference ? (["refresh_reference"] as const) : []),
  ...(on_enter.resetOptimizer ? (["reset_optimizer"] as const) : []),
];

/** An action as the stage's own form writes it. */
const written = (view: StageView, action: Action): string =>
  nodeAt(view.written, "on_enter")?.kind !== "map"
    ? action
    : action === "refresh_reference"
      ? "reference: refresh"
      : "optimizer: reset";

/** Why an action at a stage's beginning has nothing to do there. */
function whyIdle({ stages }: ConfigModel, view: StageView, action: Action): string | undefined {
  const index = stages.indexOf(view);
  if (action === "reset_optimizer") {
    if (index === 0) return "the first stage begins with a fresh optimiser anyway";
    const changes = stages[index - 1]?.config.kind !== view.config.kind;
    return changes ? "the optimiser is reset between stages of two kinds anyway" : undefined;
  }
  const firstRl = stages.find(({ config }) => config.kind === "rl");
  if (firstRl === view) return "the reference is the policy as it enters the first rl stage anyway";
  const read = stages
    .slice(index)
    .some(({ config }) => config.kind === "rl" && modelsRead(config.body).includes("reference"));
  return read ? undefined : "no loss, reward or penalty from here on reads the reference";
}

/** What happens as a stage begins changes something. */
export const idleEnter: Rule = {
  id: "idle-on-enter",
  title: "`on_enter` action without effect",
  why: "`on_enter: [refresh_reference]` makes the current policy the new `reference`; `reset_optimizer` clears the optimiser's moments. The first happens anyway when the first rl stage begins. The second happens anyway in the first stage, and between a supervised stage and an rl stage. A new reference that nothing compares with changes nothing.\n\nRemove the action, or move it to the stage that you meant.",
  check: eachStage((view, model) => {
    const at = placeOf(view.written, "on_enter");
    if (!isOwn(at)) return;
    const actions = actionsOf(view);
    for (const action of actions) {
      const why = whyIdle(model, view, action);
      if (why === undefined) continue;
      model.report({
        rule: idleEnter.id,
        severity: "info",
        message: `\`${written(view, action)}\` does nothing here: ${why}.`,
        key: `${view.path}.on_enter`,
        at,
        tags: ["unnecessary"],
        fileFixes:
          actions.length > 1 || nodeAt(view.written, "on_enter")?.kind === "map"
            ? []
            : [model.edits.remove(["stages", view.config.name, "on_enter"], "Remove `on_enter`")],
      });
    }
  }),
};
