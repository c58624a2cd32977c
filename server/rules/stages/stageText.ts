import { textKinds } from "../../../shared/run/stageKinds.ts";
import { child, textOf } from "../../config/text/node.ts";
import { placeIn } from "../placeIn.ts";
import { eachStage, type Rule } from "../rule.ts";

/** What tasks of a stage on plain text have to be. */
const wanted = {
  rlp: "next_token",
  rmt: "next_token",
  rlpt: "next_segment` or `middle_segment",
} as const;

const predicting = (kind: keyof typeof wanted): string[] => wanted[kind].split("` or `");

/** Reinforcement on plain text has a text. */
export const stageText: Rule = {
  id: "stage-text",
  title: "Stage on plain text without a corpus",
  why: "`kind: rlp`, `rmt` and `rlpt` are reinforcement learning on plain text: a thought is rewarded by what it adds to the likelihood of the words that follow, or by the segment predicted after it. Their tasks come from a `corpus`, which cuts a text into what the policy reads and what it predicts; `predict` says what. With `predict: text` the policy reads nothing and the whole text is learned: that is for `kind: pretrain`.\n\nWrite `tasks: [{ corpus: FILE, predict: … }]` in the stage.",
  check: eachStage((view, { root, report, edits }) => {
    const kind = textKinds.find((one) => one === textOf(child(view.written, "kind")));
    if (kind === undefined) return;
    for (const [index, { name, source }] of view.config.body.tasks.entries()) {
      const ofText = source.declaration.name === "corpus";
      if (ofText && source.params["predict"] !== "text") continue;
      const at = placeIn(view, "tasks", String(index)) ?? root.origin;
      report({
        rule: stageText.id,
        severity: source.declaration.name === "dataset" ? "warning" : "error",
        message: ofText
          ? `\`${name}\` gives the policy none of the text to read: with \`kind: ${kind}\` set \`predict: ${wanted[kind]}\`.`
          : `\`kind: ${kind}\` predicts text, so its task \`${name}\` must be a \`corpus\`: write \`tasks: [{ corpus: FILE, predict: ${wanted[kind].replace(/`.*/, "")} }]\`.`,
        key: `${view.path}.tasks.${name}`,
        at,
        fileFixes: ofText
          ? [
              predicting(kind).map((predict) =>
                edits.set(
                  ["stages", view.config.name, "tasks", name, "predict"],
                  predict,
                  `Predict it: \`predict: ${predict}\``,
                  false,
                ),
              ),
            ].flat()
          : [],
      });
    }
  }),
};
