/**
 * TRL's `completions/completions_00012.parquet` (`log_completions`): `step`, `prompt`, `completion`, a column for each reward
 * function, what rewards logged with `log_extra`, and `advantage`. There is neither a group nor an answer. Rows are in the
 * order in which TRL computes groups, `num_generations` after each other; a prompt may be that of two groups of a step.
 */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { PlacedRecord } from "../../../shared/log/records.ts";
import {
  toWire,
  type MaybeNumber,
  type RolloutRow,
  type WireReward,
} from "../../../shared/rollouts/rollouts.ts";
import { shortest } from "./float32.ts";
import { textOf } from "./messagesText.ts";
import { taskId } from "./taskId.ts";

type Placed = Pick<PlacedRecord, "terms" | "group" | "use">;

const own = new Set(["step", "prompt", "completion", "advantage"]);

/** @param entries the rows of one file, in its order */
export function trlRows(entries: readonly JsonObject[], step: number, placed: Placed): RolloutRow[] {
  const prompts = entries.map(({ prompt }) => textOf(prompt));
  const found = groupSize(prompts);
  // A config that is not the run's may say another size.
  const size = placed.group !== undefined && found % placed.group === 0 ? placed.group : found;
  return entries.map((entry, at) =>
    trlRow(entry, prompts[at]!, { step, group: String(Math.floor(at / size)), index: at % size }, placed),
  );
}

/** The largest number that divides every run of equal prompts: two groups of one prompt may be neighbours. */
export function groupSize(prompts: readonly string[]): number {
  let size = 0;
  let run = 0;
  prompts.forEach((prompt, at) => {
    run++;
    if (prompts[at + 1] === prompt) return;
    size = divisor(size, run);
    run = 0;
  });
  return Math.max(1, size);
}

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other);
}

function trlRow(
  entry: JsonObject,
  prompt: string,
  place: Pick<RolloutRow, "step" | "group" | "index">,
  { terms, use }: Placed,
): RolloutRow {
  const rewards: Record<string, WireReward> = {};
  let reward: number | undefined;
  for (const { field, term, weight } of terms) {
    const value = rewardOf(entry[field]);
    // pandas writes what did not apply, None, as it writes NaN: null.
    rewards[term] = value === undefined ? null : toWire(value);
    if (value !== undefined && weight !== 0) reward = (reward ?? 0) + weight * value;
  }
  const fields = new Set(terms.map(({ field }) => field));
  const data = Object.fromEntries(Object.entries(entry).filter(([key]) => !own.has(key) && !fields.has(key)));
  return {
    ...place,
    task: { env: "trl", arm: "trl", id: taskId(prompt), data: { ...data, ...conversation(entry["prompt"]) } },
    prompt,
    response: textOf(entry["completion"]),
    use: use ?? "train",
    rewards,
    reward: reward === undefined ? null : toWire(reward),
    advantage: advantageOf(entry["advantage"]),
  };
}

const rewardOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? shortest(value) : undefined;
const advantageOf = (value: Json | undefined): MaybeNumber =>
  typeof value === "number" ? toWire(value) : null;

/** Messages are kept as they are next to their text. */
const conversation = (prompt: Json | undefined): JsonObject =>
  Array.isArray(prompt) ? { messages: prompt } : {};
