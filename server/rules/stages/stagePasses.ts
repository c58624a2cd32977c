import { stageBefore } from "../../config/build/crossfade.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { keyOf, at as nodeAt, type Rule } from "../rule.ts";

function checkCrossfade({ stages, report, edits }: ConfigModel, view: StageView, index: number): void {
  const { crossfade, steps, name } = view.config;
  const at = keyOf(view.written, "crossfade");
  if (crossfade === undefined || at === undefined) return;
  const configs = stages.map(({ config }) => config);
  const remove = [edits.remove(["stages", name, "crossfade"], "Remove `crossfade`", false)];
  const common = { rule: stagePasses.id, key: `${view.path}.crossfade`, at, severity: "warning" } as const;
  if (stageBefore(configs, index) === undefined)
    return report({ ...common, message: "There is no rl stage before to pass over from.", mends: remove });
  if (view.config.kind !== "rl")
    return report({ ...common, message: "Only rl stages pass over from one to the next.", mends: remove });
  if (crossfade.over > steps)
    report({
      ...common,
      message: `The stage ends after ${steps} steps, before it has passed over (${crossfade.over}): its own tasks and weights never stand alone.`,
      mends: [
        edits.set(
          ["stages", name, "crossfade", "over"],
          String(steps),
          `Set \`over\` to ${steps}, the stage's steps`,
          false,
        ),
      ],
    });
}

function checkCarryOver({ stages, report, edits }: ConfigModel, view: StageView, index: number): void {
  const at = keyOf(view.written, "on_enter", "carry_over");
  if (at === undefined || nodeAt(view.written, "on_enter", "carry_over") === undefined) return;
  const learned = stages.slice(0, index).some(({ config: { kind } }) => kind === "rl");
  const idle = !learned
    ? "no rl stage before has tasks to carry over"
    : view.config.kind === "rl"
      ? undefined
      : "only rl stages draw tasks that are carried over";
  if (idle === undefined) return;
  report({
    rule: stagePasses.id,
    severity: "warning",
    message: `\`carry_over\` does nothing here: ${idle}.`,
    key: `${view.path}.on_enter.carry_over`,
    at,
    mends: [
      edits.remove(["stages", view.config.name, "on_enter", "carry_over"], "Remove `carry_over`", false),
    ],
  });
}

/** What a stage takes over of those before it is there. */
export const stagePasses: Rule = {
  id: "stage-passes",
  title: "Stage that has nothing to take over",
  why: "`crossfade: { over: N }` draws tasks of the rl stage before and pays by its reward terms, less and less over N steps; `on_enter: { carry_over: … }` puts hard tasks of earlier stages among the prompts. Both need an rl stage before, and a crossfade as many steps as it takes.\n\nMove them to a later stage, or shorten the crossfade.",
  check(model) {
    for (const [index, view] of model.stages.entries()) {
      checkCrossfade(model, view, index);
      checkCarryOver(model, view, index);
    }
  },
};
