/**
 * verl's dumps (`trainer.rollout_data_dir`): an object a line with `input`, `output`, `gts`, `score` and `step`, every key of
 * the reward's own dict, and from its V1 trainer on `uid`, the row's key `{uid}_{session}_{index}`. `score` is the reward; its
 * other numbers are components, which verl logs and never sums.
 */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { PlacedRecord } from "../../../shared/log/records.ts";
import type { RolloutRow, WireNumber, WireReward } from "../../../shared/rollouts/rollouts.ts";
import { shortest } from "./float32.ts";
import { taskId } from "./taskId.ts";

type Placed = Pick<PlacedRecord, "terms" | "use">;

const own = new Set(["input", "output", "gts", "score", "step", "uid"]);

/**
 * @param entries the lines of one step, in the file's order
 * @param placed which field is which term; without any, rows have `reward` alone, and other numbers are data of their task
 */
export function verlRows(entries: readonly JsonObject[], step: number, placed: Placed): RolloutRow[] {
  const sizes = new Map<string, number>();
  const numbers = new Map<string, number>();
  return entries.map((entry) => {
    const group = groupOf(entry, numbers);
    const index = sizes.get(group) ?? 0;
    sizes.set(group, index + 1);
    return verlRow(entry, { step, group, index }, placed);
  });
}

/** Whether a step's lines say which rollouts are of one group. */
export const hasUid = (entry: JsonObject): boolean => typeof entry["uid"] === "string";

/** The first part of `uid`; in dumps without one, which prompt of the step it is: batches are reordered before they are written. */
function groupOf(entry: JsonObject, numbers: Map<string, number>): string {
  const { uid, input } = entry;
  if (typeof uid === "string") return /^(.+)_\d+_\d+$/s.exec(uid)?.[1] ?? uid;
  const prompt = textOf(input);
  const known = numbers.get(prompt) ?? numbers.size;
  numbers.set(prompt, known);
  return String(known);
}

function verlRow(
  entry: JsonObject,
  { step, group, index }: Pick<RolloutRow, "step" | "group" | "index">,
  { terms, use }: Placed,
): RolloutRow {
  const prompt = textOf(entry["input"]);
  const rewards: Record<string, WireReward> = {};
  const components: Record<string, WireNumber> = {};
  const data: Record<string, Json> = {};
  for (const { field, term } of terms) rewards[term] = numberOf(entry[field]) ?? null;
  for (const [key, value] of Object.entries(entry)) {
    if (own.has(key)) continue;
    const number = typeof value === "boolean" ? Number(value) : numberOf(value);
    if (number === undefined || terms.length === 0) data[key] = value;
    else components[key] = number;
  }
  const [{ term } = { term: "" }] = terms;
  return {
    step,
    group,
    index,
    task: { env: "verl", arm: armOf(data), id: taskId(prompt), data: { ...data, ...answerOf(entry["gts"]) } },
    prompt,
    response: textOf(entry["output"]),
    use: use ?? "train",
    rewards,
    ...(Object.keys(components).length === 0 ? {} : { components: { [term]: components } }),
    reward: numberOf(entry["score"]) ?? null,
  };
}

/** The data source, where the reward's dict names one. */
const armOf = ({ data_source: source }: Readonly<Record<string, Json>>): string =>
  typeof source === "string" && source !== "" ? source : "verl";

/** `ground_truth` as verl calls it; `answer` is what rewards of Gradus read. */
function answerOf(truth: Json | undefined): JsonObject {
  if (truth === undefined || truth === null) return {};
  const text = typeof truth === "string" ? truth : JSON.stringify(truth);
  return { ground_truth: truth, answer: text };
}

const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

/** A number, or one that is not finite as the readers of JSON leave it; undefined: it is none. */
function numberOf(value: Json | undefined): WireNumber | undefined {
  if (typeof value === "number") return shortest(value);
  return value === "NaN" || value === "Infinity" || value === "-Infinity" ? value : undefined;
}
