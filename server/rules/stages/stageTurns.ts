import { child, textOf, type SourceNode } from "../../config/text/node.ts";
import { stageBlocks } from "../../config/grammar/grammar.ts";
import { unknownName } from "../../config/check/report.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, eachStage, keyOf, type Rule } from "../rule.ts";

/** Why a stage cannot have a turn. */
function problemOf(name: string, view: StageView, stages: readonly StageView[]): string | undefined {
  const other = stages.find(({ config }) => config.name === name);
  if (other === view) return "A stage cannot alternate with itself: name another stage.";
  if (other?.config.kind === "alternate")
    return `\`${name}\` itself alternates stages: name the stages that it alternates.`;
  return other === undefined ? `There is no stage \`${name}\` to alternate.` : undefined;
}

function checkTurn(model: ConfigModel, view: StageView, turn: SourceNode, index: number): void {
  const node = child(turn, "stage");
  const name = textOf(node);
  if (node === undefined || name === undefined) return;
  const wrong = problemOf(name, view, model.stages);
  if (wrong === undefined) return;
  const known = model.stages.filter((other) => other !== view).map(({ config }) => config.name);
  const { hint, fixes } = unknownName(name, known, node.origin);
  const missing = !model.stages.some(({ config }) => config.name === name);
  model.report({
    rule: stageTurns.id,
    message: missing ? `${wrong} ${hint}` : wrong,
    key: `${view.path}.alternate.${index}.stage`,
    at: node.origin,
    fixes: missing ? fixes : [],
  });
}

/** What is written in a place where nothing reads it. */
function idle({ report, edits }: ConfigModel, view: StageView, keys: readonly string[], why: string): void {
  for (const key of keys) {
    const at = keyOf(view.written, key);
    if (at === undefined) continue;
    report({
      rule: stageTurns.id,
      severity: "warning",
      message: `\`${key}\` does nothing here: ${why}`,
      key: `${view.path}.${key}`,
      at,
      tags: ["unnecessary"],
      fileFixes: [edits.remove(["stages", view.config.name, key], `Remove \`${key}\``, false)],
    });
  }
}

/** Stages that take turns are there, and say what they train on themselves. */
export const stageTurns: Rule = {
  id: "stage-turns",
  title: "`alternate` with a stage that cannot take turns",
  why: "`alternate: [{ stage: a, steps: 8 }, { stage: b, steps: 2 }]` lets other stages of the list take turns, for as many steps in total as this stage has. A stage that takes turns does not run on its own: it begins and ends with its turns, so its `steps`, `until`, `on_enter` and `crossfade` do nothing. The stage with `alternate` has no blocks: each turn trains with the blocks of the stage whose turn it is.\n\nName stages of the list. Write what they train on in those stages, and when to end in the stage with `alternate`.",
  check: eachStage((view, model) => {
    const list = nodeAt(view.written, "alternate");
    if (list?.kind === "list") list.items.forEach((turn, index) => checkTurn(model, view, turn, index));
    if (view.config.part)
      idle(
        model,
        view,
        ["steps", "until", "on_enter", "crossfade"],
        "the stage runs only in the turns that another stage gives it.",
      );
    if (view.config.kind === "alternate")
      idle(
        model,
        view,
        [...stageBlocks, "kind"],
        "each turn trains with the blocks of the stage whose turn it is.",
      );
  }),
};
