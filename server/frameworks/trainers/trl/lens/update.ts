/** The optimiser, its learning rate over steps, and what is saved. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { Batch } from "./batch.ts";
import type { TrlDraft } from "./draft.ts";

type UpdateBlock = StageBody["update"];

export function update({ update: block }: StageBody, batch: Batch, draft: TrlDraft): void {
  const { optimizer, reset_every: reset } = block;
  const { params } = optimizer;
  const name = optimizer.declaration.name;
  const number = (key: string): number => Number(params[key] ?? 0);
  if (name === "adamw") {
    const [beta1, beta2] = Array.isArray(params["betas"]) ? params["betas"].map(Number) : [];
    draft.set("adam_beta1", beta1);
    draft.set("adam_beta2", beta2);
    draft.set("adam_epsilon", number("epsilon"));
  } else draft.miss("update.optimizer", name, "AdamW trains instead, with the same learning rate.");
  draft.set("weight_decay", number("weight_decay"));
  // 0 is none, as Transformers reads it.
  draft.set("max_grad_norm", number("clip_norm"));
  if (typeof params["clip_value"] === "number")
    draft.miss("update.optimizer.clip_value", params["clip_value"], "TRL clips by the norm alone.");
  if (reset !== undefined)
    draft.miss("update.reset_every", reset, "TRL's optimiser goes on from step to step.");
  course(block, number("lr"), number("warmup"), batch, draft);
}

function course({ schedule }: UpdateBlock, lr: number, warmup: number, batch: Batch, draft: TrlDraft): void {
  draft.set("warmup_steps", warmup);
  draft.set("learning_rate", typeof schedule === "number" ? lr * schedule : lr);
  const { kind, kwargs } =
    typeof schedule === "number" ? constant(warmup) : shaped(schedule, batch, draft, warmup);
  draft.set("lr_scheduler_type", kind);
  if (kwargs !== undefined) draft.set("lr_scheduler_kwargs", kwargs);
}

interface Course {
  readonly kind: string;
  readonly kwargs?: JsonObject;
}

const constant = (warmup: number): Course => ({ kind: warmup > 0 ? "constant_with_warmup" : "constant" });

function shaped(
  schedule: Exclude<UpdateBlock["schedule"], number>,
  { updates, steps }: Batch,
  draft: TrlDraft,
  warmup: number,
): Course {
  if ("shape" in schedule) {
    if (schedule.shape === "inverse_sqrt")
      return { kind: "inverse_sqrt", kwargs: { timescale: schedule.timescale * updates } };
    return {
      kind: "warmup_stable_decay",
      kwargs: {
        num_decay_steps: schedule.decay * updates,
        decay_type: schedule.decay_shape,
        min_lr_ratio: schedule.floor,
      },
    };
  }
  const { schedule: kind, from, to, over, start } = fields(schedule);
  const whole = from === 1 && start + over === steps && start === Math.ceil(warmup / updates);
  if (whole && kind === "linear" && to === 0) return { kind: "linear" };
  if (whole && kind === "cosine")
    return to === 0 ? { kind: "cosine" } : { kind: "cosine_with_min_lr", kwargs: { min_lr_rate: to } };
  draft.miss(
    "update.optimizer.schedule",
    schedule,
    "Transformers has no such course of the learning rate: it stays constant.",
  );
  return constant(warmup);
}

/** Of any schedule; NaN where its kind has none. */
function fields(schedule: object): {
  readonly schedule: string;
  readonly from: number;
  readonly to: number;
  readonly over: number;
  readonly start: number;
} {
  const get = (key: string): unknown => Object.entries(schedule).find(([name]) => name === key)?.[1];
  const number = (key: string): number => Number(get(key) ?? Number.NaN);
  return {
    schedule: String(get("schedule")),
    from: number("from"),
    to: number("to"),
    over: number("over"),
    start: Number(get("start") ?? 0),
  };
}

/** Steps are the optimiser's. */
export function saving(
  { checkpoint, evaluation, seed, name }: RunConfig,
  batch: Batch,
  draft: TrlDraft,
): void {
  draft.set("run_name", name);
  draft.set("seed", seed);
  draft.set("output_dir", "out/checkpoints");
  draft.set("save_steps", checkpoint.every * batch.updates);
  draft.set("save_total_limit", checkpoint.keep);
  draft.set("logging_steps", batch.updates);
  draft.set("report_to", "none");
  // Rows are in the order in which they were drawn.
  draft.set("shuffle_dataset", false);
  draft.miss(
    "evaluation",
    `every ${evaluation.every} steps`,
    "TRL does not measure pass@k on held-out tasks: evaluate a checkpoint with `gradus evaluate`.",
    "nothing-trained",
  );
}
