/** Which units are compared with each other. */
import { z } from "zod";
import { param } from "../../core/declaration.ts";
import type { AdvantageInput } from "../../core/slots/advantage.ts";

export const among = param(
  z.enum(["units", "place"]).optional(),
  "Below response level: all units of the group's rollouts are compared (default), or only those at the same position (first, second, …).",
);
export type Among = "units" | "place";

/** What an unaccompanied unit gets: frameworks differ. */
export const single = (what: Single) =>
  param(
    z.enum(["zero", "reward", "none"]).optional(),
    `What a rollout without a scored sibling gets: advantage 0, its reward (verl), or no advantage, so that it does not train. Default: ${what}.`,
  );
export type Single = "zero" | "reward" | "none";
export const alone = (rule: Single, reward: number): number =>
  rule === "zero" ? 0 : rule === "reward" ? reward : Number.NaN;

/** Unit numbers of each population. Rows without a reward are in none. */
export function populations({ units, groups }: AdvantageInput, rule: Among = "units"): readonly Int32Array[] {
  if (units.level === "response") return groups;
  return rule === "units"
    ? groups.map((rows) => Int32Array.from(unitsOfRows(rows, units.offsets)))
    : groups.flatMap((rows) => byPlace(rows, units.offsets));
}

function unitsOfRows(rows: Int32Array, offsets: Int32Array): number[] {
  const found: number[] = [];
  for (const row of rows) for (let unit = offsets[row]!; unit < offsets[row + 1]!; unit++) found.push(unit);
  return found;
}

function byPlace(rows: Int32Array, offsets: Int32Array): Int32Array[] {
  const places: number[][] = [];
  for (const row of rows)
    for (let unit = offsets[row]!; unit < offsets[row + 1]!; unit++)
      (places[unit - offsets[row]!] ??= []).push(unit);
  return places.map((units) => Int32Array.from(units));
}

/** A column per unit, NaN where nothing is written into it. */
export const noAdvantages = ({ units }: AdvantageInput): Float64Array =>
  new Float64Array(units.count).fill(Number.NaN);

/** Each reward minus what is in the middle of its population; a unit without siblings gets what the rule says. */
export function lessMiddle(
  input: AdvantageInput,
  sets: readonly Int32Array[],
  middle: (units: Int32Array) => number,
  rule: Single = "zero",
): Float64Array {
  const centred = noAdvantages(input);
  for (const units of sets) {
    const value = middle(units);
    for (const unit of units) {
      const reward = input.rewards[unit]!;
      centred[unit] = units.length === 1 ? alone(rule, reward) : reward - value;
    }
  }
  return centred;
}
