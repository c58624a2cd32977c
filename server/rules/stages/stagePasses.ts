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
    return report({
      ...common,
      message: "There is no earlier rl stage to fade from: remove `crossfade`.",
      fileFixes: remove,
    });
  if (view.config.kind !== "rl")
    return report({
      ...common,
      message: "Only rl stages can fade from one to the next: remove `crossfade`.",
      fileFixes: remove,
    });
  if (crossfade.over > steps)
    report({
      ...common,
      message: `The stage ends after ${steps} steps, before its crossfade of ${crossfade.over} steps is over, so it never trains on its own tasks and weights alone.`,
      fileFixes: [
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
    ? "no earlier rl stage has tasks to carry over"
    : view.config.kind === "rl"
      ? undefined
      : "only rl stages draw carried-over tasks";
  if (idle === undefined) return;
  report({
    rule: stagePasses.id,
    severity: "warning",
    message: `\`carry_over\` does nothing here: ${idle}.`,
    key: `${view.path}.on_enter.carry_over`,
    at,
    fileFixes: [
      edits.remove(["stages", view.config.name, "on_enter", "carry_over"], "Remove `carry_over`", false),
    ],
  });
}

/** What a stage takes over of those before it is there. */
export const stagePasses: Rule = {
  id: "stage-passes",
  title: "Stage with nothing to carry over",
  why: "`crossfade: { over: N }` draws tasks of the previous rl stage and scores with its reward terms, less and less over N steps; `on_enter: { carry_over: … }` adds hard tasks of earlier stages to the prompts. Both need an earlier rl stage, and a crossfade needs at least N steps.\n\nMove them to a later stage, or shorten the crossfade.",
  check(model) {
    for (const [index, view] of model.stages.entries()) {
      checkCrossfade(model, view, index);
      checkCarryOver(model, view, index);
    }
  },
};
