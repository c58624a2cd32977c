import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { startsOwnProgram } from "../../batch.ts";
import { trainerOf } from "../../python.ts";
import { everyTrainer, rewarded, trainerOfTree } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const dataSource = trlRule({
  id: "trl-data",
  trees: everyTrainer,
  title: "Missing prompts",
  why: "Prompts come from a dataset or, since TRL 1.9, from the `reset` of an environment. Without a dataset only `max_steps` ends training, and there can be only one environment. `trl grpo` takes `dataset_name` or a mixture in `datasets`. `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) and trl/scripts/grpo.py refuse everything else.",
  check: (model) =>
    model.document.form !== "python"
      ? onCommandLine(model)
      : rewarded.includes(model.document.tree ?? "")
        ? inTrainer(model)
        : [],
});

function onCommandLine(model: RuleModel): RuleDiagnostic[] {
  const { incomplete } = model.document;
  const [name, mixture] = [model.value("dataset_name"), model.value("datasets")];
  const empty = mixture === null || (Array.isArray(mixture) && mixture.length === 0);
  if (
    startsOwnProgram(model) &&
    !incomplete &&
    model.written("model_name_or_path") !== undefined &&
    name === null &&
    empty
  ) {
    const message = "There is no dataset: set `--dataset_name`, or `datasets` in the file of `--config`.";
    return [{ at: undefined, message }];
  }
  const [first, second] = [model.written("dataset_name"), model.written("datasets")];
  if (first === undefined || second === undefined || first.value === null || empty) return [];
  const message = "`dataset_name` is never read, because `datasets` is set too and wins.";
  return [{ at: first, message, severity: "warning", related: [second] }];
}

function inTrainer(model: RuleModel): RuleDiagnostic[] {
  const trainer = trainerOf(model);
  if (trainer === undefined || !trainer.complete || trainer.has("train_dataset")) return [];
  const at = trainer.setting("train_dataset");
  const environment = trainer.get("environment_factory");
  if (environment === undefined || !model.since("1.9.0")) {
    const message = `\`${trainerOfTree(model.document.tree)?.trainer ?? "GRPOTrainer"}\` gets no \`train_dataset\` and refuses to train without one.`;
    return [{ at, message }];
  }
  if (environment.kind === "dict") {
    const message =
      "Several environments need a `train_dataset` whose column `environment` assigns each prompt to one of them.";
    return [{ at, message }];
  }
  const steps = model.number("max_steps");
  if (steps === undefined || steps > 0) return [];
  const message =
    "Without a `train_dataset` only `max_steps` ends training: TRL refuses to train without it.";
  return [{ at: model.written("max_steps") ?? at, message }];
}
