/** How TRL cuts completions into batches: `GRPOConfig.__post_init__` in trl/trainer/grpo_config.py. */
import type { Json } from "../../../../shared/lib/json.ts";
import type { RuleModel } from "../../rules/rule.ts";

/** How many processes train, if the file sets it. */
export const processesOf = (model: RuleModel): number | undefined => {
  const { processes } = model.document;
  return asCount(processes === undefined ? model.value("num_processes") : processes.value);
};

const asCount = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;

export interface CompletionBatch {
  /** Completions that one process takes through the model at once. */
  readonly perDevice: number;
  /** Such slices that one generation makes; undefined where the size of the whole is written instead. */
  readonly slices: number | undefined;
  /** Completions of one generation where that is written. */
  readonly whole: number | undefined;
  readonly processes: number | undefined;
}

/** undefined where a part of it cannot be known, or both ways of writing it are used. */
export function batchOf(model: RuleModel): CompletionBatch | undefined {
  const perDevice = model.number("per_device_train_batch_size");
  const whole = model.value("generation_batch_size");
  const slices = model.value("steps_per_generation");
  if (perDevice === undefined || whole === undefined || slices === undefined) return undefined;
  if (whole !== null && slices !== null) return undefined;
  const steps = model.number(slices === null ? "gradient_accumulation_steps" : "steps_per_generation");
  if (whole === null && steps === undefined) return undefined;
  return {
    perDevice,
    slices: whole === null ? steps : undefined,
    whole: whole === null ? undefined : model.number("generation_batch_size"),
    processes: processesOf(model),
  };
}

export const batchKeys = [
  "generation_batch_size",
  "steps_per_generation",
  "gradient_accumulation_steps",
  "per_device_train_batch_size",
] as const;

/** Whether the trainer evaluates while it trains. */
export function evaluates(model: RuleModel): boolean | undefined {
  const strategy = model.value("eval_strategy");
  if (strategy === undefined) return undefined;
  return strategy !== null && strategy !== "no" && strategy !== false;
}

/** `4 × 2 = 8`, without the ones that change nothing. */
export function equation(...factors: readonly number[]): string {
  const counted = factors.filter((factor) => factor !== 1);
  const value = factors.reduce((a, b) => a * b, 1);
  return counted.length < 2 ? String(value) : `${counted.join(" × ")} = ${value}`;
}

/** `30 = 3 × 8 + 6`. */
export const remainder = (value: number, divisor: number): string =>
  `${value} = ${Math.floor(value / divisor)} × ${divisor} + ${value % divisor}`;

/** Whether a script, or the command in a file's own comment, starts a program of TRL's own. */
export const startsOwnProgram = ({ document: { program = "" } }: RuleModel): boolean =>
  /^trl \w+$|\btrl[./]scripts[./]/.test(program);
