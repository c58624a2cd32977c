import { isObject } from "../../../../text/values.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { trainerOf } from "../../python.ts";
import type { Setting } from "../../../../text/document.ts";
import { trlRule } from "../../trlRule.ts";

export const streaming = trlRule({
  id: "trl-streaming",
  title: "Streamed dataset lacks a setting",
  why: "A stream has no length, so Transformers' `Trainer` needs `max_steps`. It has no index either: `GRPOTrainer` (trl/trainer/grpo_trainer.py) repeats its rows in one worker of each process, refuses `dispatch_batches: true` and overrides `dataloader_num_workers`. Before TRL 1.9 it refuses every stream.",
  check(model) {
    const at = streamOf(model);
    if (at === undefined) return [];
    if (!model.since("1.9.0")) {
      const message = `TRL ${model.document.version.text} does not train on a streamed dataset: load it whole, or use TRL 1.9 or newer.`;
      return [{ at, message }];
    }
    return [...endless(model, at), ...dispatched(model, at), ...workers(model, at)];
  },
});

/** The setting that asks for a stream. */
function streamOf(model: RuleModel): Setting | undefined {
  if (model.document.form !== "python")
    return ["dataset_streaming", "streaming"]
      .filter((key) => model.flag(key) === true)
      .map((key) => model.written(key))[0];
  const trainer = trainerOf(model);
  const data = trainer?.get("train_dataset");
  const streams =
    data?.kind === "call" &&
    data.callee.endsWith("load_dataset") &&
    data.keywords.some(
      ({ name, value }) => name === "streaming" && value.kind === "value" && value.value === true,
    );
  return streams ? trainer?.setting("train_dataset") : undefined;
}

function endless(model: RuleModel, at: Setting): RuleDiagnostic[] {
  const steps = model.number("max_steps");
  const unset = model.document.form === "yaml" && model.written("max_steps") === undefined;
  if (steps === undefined || steps > 0 || unset) return [];
  const message =
    "A streamed dataset has no length, and `max_steps` is not set: Transformers refuses it. Set `max_steps`.";
  return [
    {
      at: model.written("max_steps") ?? at,
      message,
      ...(model.written("max_steps") === undefined ? {} : { related: [at] }),
    },
  ];
}

function dispatched(model: RuleModel, at: Setting): RuleDiagnostic[] {
  const config = model.written("accelerator_config");
  if (config === undefined || !isObject(config.value) || config.value["dispatch_batches"] !== true) return [];
  const message =
    "`dispatch_batches` in `accelerator_config` is true, and a streamed dataset needs it false.";
  return [{ at: config, message, related: [at] }];
}

function workers(model: RuleModel, stream: Setting): RuleDiagnostic[] {
  const count = model.number("dataloader_num_workers");
  if (count === undefined || count === 0) return [];
  const message = `\`dataloader_num_workers\` is ${count}, but only one process reads a streamed dataset: TRL sets it to 0.`;
  return diagnosticAt(model, ["dataloader_num_workers"], message, { severity: "warning", related: [stream] });
}
