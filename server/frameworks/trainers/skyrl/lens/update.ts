/** The optimiser, its learning rate over updates, and what is saved and measured. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { Batch } from "../../../lens/groupBatch.ts";
import type { SkyrlDraft } from "./draft.ts";
import { evaluation as evaluationSection, policy } from "./keys.ts";

type UpdateBlock = StageBody["update"];
type Optimizer = UpdateBlock["optimizer"];

/** What torch's AdamW adds to the root of the second moment. */
const usualEpsilon = 1e-8;

/** @param section of SkyRL's config; @param key of ours */
export function optimizer(
  section: string,
  key: string,
  { declaration, params }: Optimizer,
  draft: SkyrlDraft,
): void {
  const number = (name: string): number => Number(params[name] ?? 0);
  if (declaration.name !== "adamw")
    draft.miss(key, declaration.name, "AdamW trains instead, with the same learning rate.");
  else if (Array.isArray(params["betas"])) draft.set(`${section}.adam_betas`, params["betas"].map(Number));
  draft.set(`${section}.lr`, number("lr"));
  draft.set(`${section}.weight_decay`, number("weight_decay"));
  // 0 is none.
  draft.set(`${section}.max_grad_norm`, number("clip_norm"));
  const { epsilon = usualEpsilon, clip_value: value } = params;
  if (declaration.name === "adamw" && epsilon !== usualEpsilon)
    draft.miss(`${key}.epsilon`, epsilon, `SkyRL's AdamW adds ${usualEpsilon}.`, "guard");
  if (typeof value === "number") draft.miss(`${key}.clip_value`, value, "SkyRL clips by the norm alone.");
}

export function update({ update: block }: StageBody, batch: Batch, draft: SkyrlDraft): void {
  const section = `${policy}.optimizer_config`;
  optimizer(section, "update.optimizer", block.optimizer, draft);
  if (block.reset_every !== undefined)
    draft.miss("update.reset_every", block.reset_every, "SkyRL's optimiser goes on from step to step.");
  const warmup = Number(block.optimizer.params["warmup"] ?? 0);
  // Both count updates.
  draft.set(`${section}.num_warmup_steps`, warmup);
  const { schedule } = block;
  if (typeof schedule === "number") {
    if (schedule !== 1) draft.set(`${section}.lr`, Number(block.optimizer.params["lr"] ?? 0) * schedule);
    return;
  }
  const course = courseOf(schedule, warmup, batch);
  if (course !== undefined) return draft.set(`${section}.scheduler`, course);
  draft.miss(
    "update.optimizer.schedule",
    schedule,
    "SkyRL's learning rate is constant, or falls to 0 over all updates, linearly or as a cosine: it stays constant.",
  );
}

/** As transformers calls it, which is told the updates of the warm-up and of all steps. */
function courseOf(
  schedule: Exclude<UpdateBlock["schedule"], number>,
  warmup: number,
  { updates, steps }: Batch,
): string | undefined {
  const get = (name: string): unknown => Object.entries(schedule).find(([key]) => key === name)?.[1];
  const [from, to, over, start] = ["from", "to", "over", "start"].map((name) => Number(get(name) ?? 0));
  const whole = from === 1 && to === 0 && start! + over! === steps && start === Math.ceil(warmup / updates);
  const kind = String(get("schedule"));
  return whole && (kind === "linear" || kind === "cosine") ? kind : undefined;
}

export function saving(
  { checkpoint, evaluation, name, seed }: RunConfig,
  { rollout }: StageBody,
  draft: SkyrlDraft,
): void {
  draft.set("trainer.project_name", "gradus");
  draft.set("trainer.run_name", name);
  draft.set("trainer.seed", seed);
  draft.set("trainer.logger", "console");
  draft.set("trainer.ckpt_interval", checkpoint.every);
  draft.set("trainer.max_ckpts_to_keep", checkpoint.keep);
  draft.set("trainer.eval_interval", evaluation.every);
  // `launch.sh --resume` goes on; SkyRL itself would from any start.
  draft.set("trainer.resume_mode", "none");
  draft.set("trainer.placement.policy_num_gpus_per_node", 1);
  draft.set("trainer.placement.policy_num_nodes", 1);
  const samples = Math.max(...evaluation.pass_at);
  draft.set("generator.eval_n_samples_per_prompt", samples);
  draft.set(`${evaluationSection}.temperature`, evaluation.temperature);
  draft.set(`${evaluationSection}.max_generate_length`, rollout.max_tokens);
  draft.miss(
    "evaluation.pass_at",
    evaluation.pass_at,
    `SkyRL answers each held-out task ${samples} times, and gives the mean reward and the share of tasks with an answer whose reward is above 0 instead of pass@k.`,
    "nothing-trained",
  );
}
