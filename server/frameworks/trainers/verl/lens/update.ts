/** The optimiser, its learning rate over steps, and what is saved and measured. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { Batch } from "../../../lens/groupBatch.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, rollout } from "./keys.ts";

type UpdateBlock = StageBody["update"];
type Optimizer = UpdateBlock["optimizer"];

/** A bound that no gradient's norm reaches: verl always clips. */
const noClip = 1e9;
/** What torch's AdamW adds to the root of the second moment. */
const usualEpsilon = 1e-8;

/** @param section of verl's config; @param key of ours */
export function optimizer(
  section: string,
  key: string,
  { declaration, params }: Optimizer,
  draft: VerlDraft,
): void {
  const number = (name: string): number => Number(params[name] ?? 0);
  if (declaration.name !== "adamw")
    draft.miss(key, declaration.name, "AdamW trains instead, with the same learning rate.");
  else if (Array.isArray(params["betas"])) draft.set(`${section}.betas`, params["betas"].map(Number));
  draft.set(`${section}.lr`, number("lr"));
  draft.set(`${section}.weight_decay`, number("weight_decay"));
  draft.set(`${section}.clip_grad`, typeof params["clip_norm"] === "number" ? params["clip_norm"] : noClip);
  const { epsilon = usualEpsilon, clip_value: value } = params;
  if (declaration.name === "adamw" && epsilon !== usualEpsilon)
    draft.set(`${section}.override_optimizer_config`, { eps: Number(epsilon) });
  if (typeof value === "number") draft.miss(`${key}.clip_value`, value, "verl clips by the norm alone.");
}

export function update({ update: block }: StageBody, batch: Batch, draft: VerlDraft): void {
  const section = `${actor}.optim`;
  optimizer(section, "update.optimizer", block.optimizer, draft);
  if (block.reset_every !== undefined)
    draft.miss("update.reset_every", block.reset_every, "verl's optimiser goes on from step to step.");
  const warmup = Number(block.optimizer.params["warmup"] ?? 0);
  // verl moves the rate once a step.
  const steps = Math.ceil(warmup / batch.updates);
  if (steps > 0) draft.set(`${section}.lr_warmup_steps`, steps);
  if (steps * batch.updates !== warmup)
    draft.miss(
      "update.optimizer.warmup",
      warmup,
      `verl warms up by whole steps of ${batch.updates} updates: ${steps}.`,
    );
  course(block, steps, batch, draft);
}

function course(
  { schedule, optimizer: { params } }: UpdateBlock,
  warmup: number,
  { steps }: Batch,
  draft: VerlDraft,
): void {
  const section = `${actor}.optim`;
  if (typeof schedule === "number") {
    if (schedule !== 1) draft.set(`${section}.lr`, Number(params["lr"] ?? 0) * schedule);
    return;
  }
  const get = (name: string): unknown => Object.entries(schedule).find(([key]) => key === name)?.[1];
  const [from, to, over, start] = ["from", "to", "over", "start"].map((name) => Number(get(name) ?? 0));
  const whole = from === 1 && start! + over! === steps && start === warmup;
  if (get("schedule") !== "cosine" || !whole)
    return draft.miss(
      "update.optimizer.schedule",
      schedule,
      "verl's learning rate is constant, or falls as a cosine over all steps: it stays constant.",
    );
  draft.set(`${section}.lr_scheduler_type`, "cosine");
  draft.set(`${section}.min_lr_ratio`, to);
}

export function saving({ checkpoint, evaluation, name, engine }: RunConfig, draft: VerlDraft): void {
  draft.set("trainer.project_name", "gradus");
  draft.set("trainer.experiment_name", name);
  draft.set("trainer.logger", ["console", "file"]);
  draft.set("trainer.save_freq", checkpoint.every);
  draft.set("trainer.max_actor_ckpt_to_keep", checkpoint.keep);
  draft.set("trainer.max_critic_ckpt_to_keep", checkpoint.keep);
  draft.set("trainer.test_freq", evaluation.every);
  // `launch.sh --resume` goes on; verl itself would from any start.
  draft.set("trainer.resume_mode", "disable");
  draft.set("trainer.n_gpus_per_node", 1);
  draft.set("trainer.nnodes", 1);
  const samples = Math.max(...evaluation.pass_at);
  draft.set(`${rollout}.val_kwargs.n`, samples);
  draft.set(`${rollout}.val_kwargs.do_sample`, true);
  draft.set(`${rollout}.val_kwargs.temperature`, evaluation.temperature);
  if (engine.args?.["trainer.test_freq"] === undefined)
    draft.miss(
      "evaluation.pass_at",
      evaluation.pass_at,
      `verl answers each held-out task ${samples} times, and gives the mean and the best of them instead of pass@k.`,
      "nothing-trained",
    );
  draft.miss(
    "engine",
    "out/stop",
    "verl cannot be asked to stop after a step: SIGTERM ends it at once, and `sh launch.sh --resume` goes on from the last checkpoint.",
    "nothing-trained",
  );
}
