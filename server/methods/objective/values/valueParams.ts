/** What losses of value heads share: parameters, and columns. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import type { Level } from "../../../core/basics.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { firstTrained, spansOf } from "../../../core/rows/spans.ts";
import { spanMass } from "../spans.ts";
export const gammaParam = param(
  z.number().min(0).max(1).default(1),
  "Discount of future rewards, used where no returns are recorded.",
);
export const statesParam = param(
  z.enum(["token", "step", "turn", "response"]).default("token"),
  "Which states have a value: those before each token, each step or each turn, or the state before the response (V(x)).",
);
export { headChannel } from "../../../core/channelNames.ts";

/** Each state's share of the loss, at the first trained token after it; 0 elsewhere. */
export function stateFactors(
  input: Pick<ObjectiveInput, "batch" | "weights" | "factors">,
  level: Level,
): Float64Array {
  if (level === "token") return input.factors;
  const spans = spansOf(input.batch, level);
  const mass = spanMass(spans, level, input);
  const factors = new Float64Array(input.factors.length);
  spans.starts.forEach((start, k) => {
    const first = firstTrained(input.weights, start, spans.ends[k]!);
    if (first >= 0) factors[first]! += mass[k]!;
  });
  return factors;
}
