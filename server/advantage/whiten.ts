/** Standardising finished advantages over the whole step. */
import { z } from "zod";

const options = z.strictObject({
  over: z
    .enum(["responses", "tokens"])
    .default("tokens")
    .describe("What counts once in mean and spread: each unit of the level, or each token that trains."),
  center: z.boolean().default(true).describe("Whether the mean is subtracted."),
  scale: z.boolean().default(true).describe("Whether it is divided by the standard deviation."),
  population: z.boolean().default(false).describe("Divide by n instead of n − 1."),
  epsilon: z.number().nonnegative().optional().describe("ε; default 1e-8 over tokens, 1e-4 over responses."),
  inside: z
    .enum(["variance", "deviation", "floor"])
    .optional()
    .describe(
      "Where ε stands: √(var + ε) (verl), std + ε (TRL), or √max(var, ε) (OpenRLHF). Default: verl's over tokens, TRL's over responses.",
    ),
});
export const whitenSchema = z.union([z.enum(["none", "responses", "tokens"]), options]);
export type Whiten = z.output<typeof whitenSchema>;

function divisor(variance: number, epsilon: number, inside: "variance" | "deviation" | "floor"): number {
  if (inside === "variance") return Math.sqrt(variance + epsilon);
  return inside === "deviation" ? Math.sqrt(variance) + epsilon : Math.sqrt(Math.max(variance, epsilon));
}

/** @param counts trained tokens of each unit; NaN stays where no advantage exists */
export function whitened(values: Float64Array, counts: Int32Array, how: Whiten): Float64Array {
  if (how === "none") return values;
  const given = typeof how === "string" ? options.parse({ over: how }) : how;
  const { over, center, population } = given;
  const epsilon = given.epsilon ?? (over === "tokens" ? 1e-8 : 1e-4);
  const inside = given.inside ?? (over === "tokens" ? "variance" : "deviation");
  const weight = (unit: number): number =>
    Number.isNaN(values[unit]!) ? 0 : over === "tokens" ? counts[unit]! : 1;
  let [n, sum] = [0, 0];
  for (let unit = 0; unit < values.length; unit++) {
    const w = weight(unit);
    if (w === 0) continue;
    n += w;
    sum += w * values[unit]!;
  }
  if (n === 0) return values;
  const mean = sum / n;
  let [squares, equal, first] = [0, true, Number.NaN];
  for (let unit = 0; unit < values.length; unit++) {
    const w = weight(unit);
    if (w === 0) continue;
    if (Number.isNaN(first)) first = values[unit]!;
    else if (values[unit] !== first) equal = false;
    squares += w * (values[unit]! - mean) ** 2;
  }
  // Equal values have no spread, which rounding of the mean would hide; they are exactly at their mean.
  if (equal && center) return values.map((value) => (Number.isNaN(value) ? value : 0));
  const variance = n < 2 ? 0 : squares / (population ? n : n - 1);
  const by = given.scale ? divisor(variance, epsilon, inside) : 1;
  const shift = center ? mean : 0;
  return values.map((value) => (by === 0 ? 0 : (value - shift) / by));
}
