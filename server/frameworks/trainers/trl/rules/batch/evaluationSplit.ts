import { diagnosticAt } from "../../../../rules/placed.ts";
import { evaluates } from "../../batch.ts";
import { trlRule } from "../../trlRule.ts";

export const evaluationSplit = trlRule({
  id: "trl-evaluation-split",
  severity: "warning",
  title: "Evaluation on training prompts",
  why: "`trl grpo` trains on `dataset_train_split` and evaluates on `dataset_test_split` of the same dataset (trl/scripts/grpo.py). If both are the same split, evaluation measures memorised prompts.",
  check(model) {
    const [train, test] = [model.text("dataset_train_split"), model.text("dataset_test_split")];
    const mixed = model.written("datasets") !== undefined;
    if (
      model.document.form === "python" ||
      mixed ||
      evaluates(model) !== true ||
      train === undefined ||
      train !== test
    )
      return [];
    const message = `Evaluation and training use the same split \`${test}\`, so the evaluation's rewards say nothing about new prompts.`;
    return diagnosticAt(model, ["dataset_test_split", "dataset_train_split"], message);
  },
});
