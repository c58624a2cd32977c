/** The optimiser, its learning rate over steps, and what is saved and measured. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { Batch } from "./batch.ts";
import type { PrimeDraft } from "./draft.ts";
import { optim, scheduler } from "./keys.ts";

type UpdateBlock = StageBody["update"];

/** How prime-rl's TOML says that there is none. */
const none = "None";
/** What torch's AdamW adds to the root of the second moment. */
const usualEpsilon = 1e-8;

export function update({ update: block }: StageBody, batch: Batch, draft: PrimeDraft): void {
  const { params } = block.optimizer;
  optimizer(block, draft);
  draft.set(`${optim}.lr`, Number(params["lr"] ?? 0));
  draft.set(`${optim}.weight_decay`, Number(params["weight_decay"] ?? 0));
  draft.set(`${optim}.max_norm`, typeof params["clip_norm"] === "number" ? params["clip_norm"] : none);
  if (typeof params["clip_value"] === "number")
    draft.miss("update.optimizer.clip_value", params["clip_value"], "prime-rl clips by the norm alone.");
  if (block.reset_every !== undefined)
    draft.miss("update.reset_every", block.reset_every, "prime-rl's optimiser goes on from step to step.");
  course(block, batch, draft);
}

function optimizer({ optimizer: { declaration, params } }: UpdateBlock, draft: PrimeDraft): void {
  const { name } = declaration;
  draft.set(`${optim}.type`, name === "sgd" ? "sgd" : "adamw");
  if (name === "sgd") {
    const momentum = Number(params["momentum"] ?? 0);
    draft.set(`${optim}.momentum`, momentum);
    // torch's Nesterov needs a momentum.
    draft.set(`${optim}.nesterov`, params["nesterov"] === true && momentum > 0);
    if (momentum > 0 && Number(params["weight_decay"] ?? 0) > 0)
      draft.miss(
        "update.optimizer.weight_decay",
        params["weight_decay"],
        "torch's SGD takes the decay into the momentum.",
      );
    return;
  }
  if (name !== "adamw")
    return draft.miss("update.optimizer", name, "AdamW trains instead, with the same learning rate.");
  const [first, second] = Array.isArray(params["betas"]) ? params["betas"].map(Number) : [];
  draft.set(`${optim}.betas1`, first);
  draft.set(`${optim}.betas2`, second);
  if (params["epsilon"] !== undefined && params["epsilon"] !== usualEpsilon)
    draft.miss(
      "update.optimizer.epsilon",
      params["epsilon"],
      `prime-rl's AdamW adds ${usualEpsilon} to the root of the second moment.`,
      "guard",
    );
}

/** The optimiser takes one step on a batch, so that its schedules count steps. */
function course({ schedule, optimizer: { params } }: UpdateBlock, { steps }: Batch, draft: PrimeDraft): void {
  const warmup = Number(params["warmup"] ?? 0);
  const lr = Number(params["lr"] ?? 0);
  if (typeof schedule === "number") {
    if (schedule !== 1) draft.set(`${optim}.lr`, lr * schedule);
    return flat(warmup, draft);
  }
  const get = (name: string): unknown => Object.entries(schedule).find(([key]) => key === name)?.[1];
  const [from, to, over, start] = ["from", "to", "over", "start"].map((name) => Number(get(name) ?? 0));
  const whole = from === 1 && start! + over! === steps && start === warmup;
  if (get("schedule") === "cosine" && whole && (to === 0 || warmup === 0) && warmup < steps) {
    draft.set(`${scheduler}.type`, "cosine");
    draft.set(`${scheduler}.warmup_steps`, warmup);
    draft.set(`${scheduler}.min_lr`, floorOf(to!, lr));
    return;
  }
  // Over all but one of the steps, so that the last one is at the end of the line.
  const line = from === 1 && start! + over! + 1 === steps && start! >= warmup;
  if (get("schedule") === "linear" && line && (to === 0 || warmup === 0)) {
    draft.set(`${scheduler}.type`, "linear");
    draft.set(`${scheduler}.warmup_steps`, warmup);
    draft.set(`${scheduler}.decay_steps`, over! + 1);
    draft.set(`${scheduler}.min_lr`, floorOf(to!, lr));
    return;
  }
  flat(warmup, draft);
  draft.miss(
    "update.optimizer.schedule",
    schedule,
    "prime-rl's learning rate is constant, falls as a cosine over all steps, or on a line that ends in the last step: it stays constant.",
  );
}

/** A product without the digits that rounding adds. */
const floorOf = (share: number, lr: number): number => Number((share * lr).toPrecision(12));

function flat(warmup: number, draft: PrimeDraft): void {
  draft.set(`${scheduler}.type`, warmup > 0 ? "linear" : "constant");
  if (warmup === 0) return;
  draft.set(`${scheduler}.warmup_steps`, warmup);
  draft.set(`${scheduler}.decay_steps`, 0);
}

export function saving({ checkpoint, evaluation }: RunConfig, draft: PrimeDraft): void {
  draft.set("ckpt.interval", checkpoint.every);
  draft.set("ckpt.keep_last", checkpoint.keep);
  draft.set("orchestrator.eval.interval", evaluation.every);
  draft.set("orchestrator.eval.group_size", Math.max(...evaluation.pass_at));
  draft.set("orchestrator.eval.sampling.temperature", evaluation.temperature);
  draft.miss(
    "evaluation.pass_at",
    evaluation.pass_at,
    "prime-rl counts rewards of exactly 1 as right, and gives pass@k for powers of 2.",
    "nothing-trained",
  );
  draft.miss(
    "engine",
    "out/stop",
    "prime-rl cannot be asked to stop after a step: SIGTERM ends it at once, and `sh launch.sh --resume` goes on from the last checkpoint.",
    "nothing-trained",
  );
}
