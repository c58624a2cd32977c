/** The optimiser, and its learning rate over updates. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { Batch } from "./batch.ts";
import type { OpenRlhfDraft } from "./draft.ts";

type UpdateBlock = StageBody["update"];
type Optimizer = UpdateBlock["optimizer"];
/** Sections of a model that learns. */
type Section = "actor" | "critic";

/** @param key of ours */
export function optimizer(
  section: Section,
  key: string,
  { declaration, params }: Optimizer,
  draft: OpenRlhfDraft,
): void {
  const number = (name: string): number => Number(params[name] ?? 0);
  if (declaration.name !== "adamw")
    draft.miss(key, declaration.name, "AdamW trains instead, with the same learning rate.");
  else {
    if (Array.isArray(params["betas"])) draft.set(`${section}.adam.betas`, params["betas"].map(Number));
    draft.set(`${section}.adam.eps`, number("epsilon"));
  }
  draft.set(`${section}.adam.lr`, number("lr"));
  draft.set(`${section}.adam.weight_decay`, number("weight_decay"));
  // 0 is none, as DeepSpeed reads it.
  draft.set(`${section}.max_norm`, number("clip_norm"));
  if (typeof params["clip_value"] === "number")
    draft.miss(`${key}.clip_value`, params["clip_value"], "OpenRLHF clips by the norm alone.");
}

export function update(body: StageBody, batch: Batch, draft: OpenRlhfDraft): void {
  const { optimizer: own, reset_every: reset } = body.update;
  optimizer("actor", "update.optimizer", own, draft);
  if (reset !== undefined)
    draft.miss("update.reset_every", reset, "OpenRLHF's optimiser goes on from step to step.");
  policyCourse("actor", body, batch, draft);
}

/** A rate that stays as it is after the warm-up. */
export function steady(section: Section, { params }: Optimizer, batch: Batch, draft: OpenRlhfDraft): void {
  const warmup = Number(params["warmup"] ?? 0);
  draft.set(`${section}.lr_scheduler`, warmup > 0 ? "constant_with_warmup" : "constant");
  draft.set(`${section}.lr_warmup_ratio`, ratioOf(warmup, batch));
}

export function policyCourse(section: Section, body: StageBody, batch: Batch, draft: OpenRlhfDraft): void {
  const { schedule, optimizer: own } = body.update;
  const warmup = Number(own.params["warmup"] ?? 0);
  if (typeof schedule === "number") {
    if (schedule !== 1) draft.set(`${section}.adam.lr`, Number(own.params["lr"] ?? 0) * schedule);
    return steady(section, own, batch, draft);
  }
  const course = shaped(schedule, batch, warmup);
  if (course === undefined) {
    draft.miss(
      "update.optimizer.schedule",
      schedule,
      "OpenRLHF has no such course of the learning rate: it stays constant.",
    );
    return steady(section, own, batch, draft);
  }
  draft.set(`${section}.lr_scheduler`, course.kind);
  draft.set(`${section}.lr_warmup_ratio`, ratioOf(warmup, batch));
  draft.set(`${section}.min_lr_ratio`, course.floor);
}

interface Course {
  /** As transformers calls it. */
  readonly kind: string;
  readonly floor?: number;
}

/** undefined: transformers has none, or OpenRLHF does not hand it its parameters. */
function shaped(
  schedule: Exclude<UpdateBlock["schedule"], number>,
  { updates, steps }: Batch,
  warmup: number,
): Course | undefined {
  const get = (key: string): unknown => Object.entries(schedule).find(([name]) => name === key)?.[1];
  if (get("shape") === "inverse_sqrt") {
    const timescale = Number(get("timescale")) * updates;
    const usual = warmup > 0 ? warmup : 10_000;
    return timescale === usual && get("floor") === 0 ? { kind: "inverse_sqrt" } : undefined;
  }
  const [from, to, over, start] = ["from", "to", "over", "start"].map((name) => Number(get(name) ?? 0));
  const whole = from === 1 && start! + over! === steps && start === Math.ceil(warmup / updates);
  if (!whole) return undefined;
  if (get("schedule") === "linear" && to === 0) return { kind: "linear" };
  if (get("schedule") !== "cosine") return undefined;
  return to === 0 ? { kind: "cosine" } : { kind: "cosine_with_min_lr", floor: to! };
}

/** OpenRLHF warms up for ⌈ratio · all updates⌉. */
function ratioOf(warmup: number, { updates, steps }: Batch): number {
  const all = updates * steps;
  const ratio = Math.min(1, warmup / all);
  return Math.ceil(all * ratio) === Math.min(warmup, all) ? ratio : (Math.min(warmup, all) - 0.5) / all;
}
