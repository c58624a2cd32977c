import { z } from "zod";
import { klEstimator } from "../../core/declaration.ts";
import { estimatorOf, estimatorParams } from "./estimate.ts";

const size = { value: (d: number) => Math.abs(d), slope: (d: number) => Math.sign(d) };

export const abs = klEstimator({
  name: "abs",
  summary:
    "The log-ratio's absolute value: not an estimate of a divergence, but 0 only where the models agree.",
  formula: "|log π − log π_ref|; its slope is the sign, 0 at 0; the same for either direction",
  sources: ["verl 0.9.1"],
  params: z.object(estimatorParams),
  create: (options) => estimatorOf(size, size, options),
});
