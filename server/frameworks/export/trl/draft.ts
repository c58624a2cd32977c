/** TRL's settings as they are found, and what of the config has no counterpart among them. */
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import { valueAt, type Scheduled } from "../../../core/schedule.ts";
import { keysOf } from "../engineKeys.ts";
import type { Missing } from "../exporter.ts";

/** Written even where TRL has the same default: they are what the algorithm is. */
const always: ReadonlySet<string> = new Set([
  "learning_rate",
  "loss_type",
  "lr_scheduler_type",
  "max_completion_length",
  "max_steps",
  "num_generations",
  "per_device_train_batch_size",
  "gradient_accumulation_steps",
  "steps_per_generation",
  "scale_rewards",
]);

/** Small enough for a table in MISSING.md. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** A method as it was chosen, whatever its slot. */
export interface Chosen {
  readonly declaration: { readonly name: string };
  readonly params: Readonly<Record<string, unknown>>;
}
export const nameOf = ({ declaration }: Chosen): string => declaration.name;

export class TrlDraft {
  private readonly written = new Map<string, Json>();
  private readonly lost: Missing[] = [];
  private readonly table = keysOf("trl", "grpo");

  set(key: string, value: Json | undefined): void {
    if (value === undefined) return;
    if (!always.has(key) && JSON.stringify(this.table.usual(key)) === JSON.stringify(value))
      this.written.delete(key);
    else this.written.set(key, value);
  }

  /** @param reason why, and what happens instead: a sentence */
  miss(key: string, value: unknown, reason: string, changes: Missing["changes"] = "algorithm"): void {
    this.lost.push({ key, value: shown(value), reason, changes });
  }

  /** A number at the first step; that it would move is said. */
  constant(key: string, value: Scheduled): number {
    const start = valueAt(value, { step: 0, stageStep: 0 });
    if (typeof value !== "number")
      this.miss(key, value, `TRL has no schedule for it: it stays at ${start}, its value in the first step.`);
    return start;
  }

  get settings(): JsonObject {
    return Object.fromEntries(this.written);
  }
  get missing(): readonly Missing[] {
    return this.lost;
  }
}
