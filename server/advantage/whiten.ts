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

/** Weighted sums over the units with an advantage. `counts` undefined: each counts once. */
function momentsOf(
  values: Float64Array,
  counts: Int32Array | undefined,
): { n: number; mean: number; squares: number; equal: boolean } {
  let [n, sum, first, equal] = [0, 0, Number.NaN, true];
  for (let unit = 0; unit < values.length; unit++) {
    const value = values[unit]!;
    const weight = counts === undefined ? 1 : counts[unit]!;
    if (weight === 0 || value !== value) continue;
    n += weight;
    sum += weight * value;
    if (first !== first) first = value;
    else if (value !== first) equal = false;
  }
  const mean = sum / n;
  let squares = 0;
  for (let unit = 0; unit < values.length; unit++) {
    const value = values[unit]!;
    if (value === value)
      squares += (counts === undefined ? 1 : counts[unit]!) * (value - mean) * (value - mean);
  }
  return { n, mean, squares, equal };
}

/** @param counts trained tokens of each unit; NaN stays where no advantage exists */
export function whitened(values: Float64Array, counts: () => Int32Array, how: Whiten): Float64Array {
  if (how === "none") return values;
  const given = typeof how === "string" ? options.parse({ over: how }) : how;
  const { over, center, population } = given;
  const epsilon = given.epsilon ?? (over === "tokens" ? 1e-8 : 1e-4);
  const inside = given.inside ?? (over === "tokens" ? "variance" : "deviation");
  const { n, mean, squares, equal } = momentsOf(values, over === "tokens" ? counts() : undefined);
  if (n === 0) return values;
  // Equal values have no spread, which rounding of the mean would hide; they are exactly at their mean.
  const shift = center ? mean : 0;
  const variance = n < 2 ? 0 : squares / (population ? n : n - 1);
  const by = given.scale ? divisor(variance, epsilon, inside) : 1;
  const factor = by === 0 || (equal && center) ? 0 : 1 / by;
  const result = new Float64Array(values.length);
  // Not a number times nothing stays one: what has no advantage gets none.
  for (let unit = 0; unit < values.length; unit++) result[unit] = (values[unit]! - shift) * factor;
  return result;
}
