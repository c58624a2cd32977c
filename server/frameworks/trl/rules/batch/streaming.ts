import { isObject } from "../../../values.ts";
import type { ForeignFinding, ForeignModel, ForeignRule } from "../../../rule.ts";
import { placed } from "../../../written.ts";
import { trainerOf } from "../../python.ts";
import type { Setting } from "../../../document.ts";

export const streaming: ForeignRule = {
  id: "trl-streaming",
  framework: "trl",
  severity: "error",
  title: "A streamed dataset without what it needs",
  why: "A stream has no length, so Transformers' `Trainer` wants `max_steps`. It cannot be read by index either: `GRPOTrainer` (trl/trainer/grpo_trainer.py) repeats its rows in one worker of each process, refuses `dispatch_batches: true` and overrides `dataloader_num_workers`. Before TRL 1.9 it refuses streams at all.",
  check(model) {
    const at = streamOf(model);
    if (at === undefined) return [];
    if (!model.since("1.9.0"))
      return [
        {
          at,
          message: `TRL ${model.document.version.text} does not train on a streamed dataset: load it whole, or use TRL 1.9.`,
        },
      ];
    return [...endless(model, at), ...dispatched(model, at), ...workers(model, at)];
  },
};

/** The setting that asks for a stream. */
function streamOf(model: ForeignModel): Setting | undefined {
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

function endless(model: ForeignModel, at: Setting): ForeignFinding[] {
  const steps = model.number("max_steps");
  const untold = model.document.form === "yaml" && model.written("max_steps") === undefined;
  if (steps === undefined || steps > 0 || untold) return [];
  const message =
    "A streamed dataset has no length, and `max_steps` does not say when training ends: Transformers refuses it.";
  return [
    {
      at: model.written("max_steps") ?? at,
      message,
      ...(model.written("max_steps") === undefined ? {} : { related: [at] }),
    },
  ];
}

function dispatched(model: ForeignModel, at: Setting): ForeignFinding[] {
  const config = model.written("accelerator_config");
  if (config === undefined || !isObject(config.value) || config.value["dispatch_batches"] !== true) return [];
  return [
    {
      at: config,
      message: "A streamed dataset needs `dispatch_batches: false` in `accelerator_config`: it is true.",
      related: [at],
    },
  ];
}

function workers(model: ForeignModel, stream: Setting): ForeignFinding[] {
  const count = model.number("dataloader_num_workers");
  if (count === undefined || count === 0) return [];
  const message = `\`dataloader_num_workers\` is ${count}, and a streamed dataset is read by one process alone: TRL sets it to 0.`;
  return [{ ...placed(model, "dataloader_num_workers"), message, severity: "warning", related: [stream] }];
}
