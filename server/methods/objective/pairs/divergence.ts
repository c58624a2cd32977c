/** f-DPO: what a row's log-ratio becomes where the policy is held to its anchor by another divergence than the KL. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { softplus } from "../numbers.ts";
import type { RowSums } from "../rowLevel.ts";

export const divergenceParam = param(
  z
    .union([
      z.enum(["reverse_kl", "forward_kl", "jensen_shannon"]),
      z.strictObject({ alpha: param(z.number(), "α of the α-divergence; 1 is the reverse KL.") }),
    ])
    .default("reverse_kl"),
  "The divergence that holds the policy to the anchor. It replaces a log-ratio log u with: log u (reverse_kl), 1 − 1/u (forward_kl), log(2u/(1 + u)) (jensen_shannon), (u^(α−1) − 1)/(α − 1) (`{ alpha }`).",
);
export type Divergence = z.output<typeof divergenceParam>;

/** Exponents of the α-divergence stop here, as TRL's do in 32 bits; there is no gradient beyond. */
const mostExponent = 80;

/** f′(u) of a log-ratio, and its derivative by the log-ratio. */
function scoreOf(x: number, divergence: Divergence): [number, number] {
  switch (divergence) {
    case "reverse_kl":
      return [x, 1];
    case "forward_kl":
      return [-Math.expm1(-x), Math.exp(-x)];
    case "jensen_shannon":
      return [Math.LN2 - softplus(-x), Math.exp(-softplus(x))];
    default: {
      const power = divergence.alpha - 1;
      if (Math.abs(power) < 1e-6) return [x, 1];
      const exponent = Math.min(power * x, mostExponent);
      return [Math.expm1(exponent) / power, exponent < mostExponent ? Math.exp(exponent) : 0];
    }
  }
}

/** Rows' log-ratios as the divergence scores them; `mean`: divided by the trained tokens afterwards. */
export function scored(sums: RowSums, divergence: Divergence, mean = false): RowSums {
  if (divergence === "reverse_kl" && !mean) return sums;
  const { count } = sums;
  const [value, scale] = [new Float64Array(count.length), new Float64Array(count.length)];
  for (let row = 0; row < count.length; row++) {
    const each = mean && count[row]! > 0 ? 1 / count[row]! : 1;
    const [score, slope] = scoreOf(sums.value[row]!, divergence);
    value[row] = each * score;
    scale[row] = each * slope * sums.scale[row]!;
  }
  return { value, scale, count };
}
