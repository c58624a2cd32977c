import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { tokenWeight, param } from "../../../core/declaration.ts";

export const spanWeight = tokenWeight({
  name: "spans",
  summary:
    "A factor on the tokens in the rollouts' recorded spans of one name (`spans`, e.g. `error` or `executed`), or on all other tokens.",
  formula: "w_t = f for t in a span of that name, else 1",
  sources: ["RLTF: Reinforcement Learning from Unit Test Feedback"],
  params: z.object({
    name: param(z.string().min(1), "Name of the spans."),
    factor: param(schedulable(z.number().nonnegative()), "f"),
    outside: param(z.boolean().default(false), "The factor acts on the tokens outside the spans."),
  }),
  create:
    ({ name, factor, outside }) =>
    (batch, _stats, _advantages, clock) => {
      const f = valueAt(factor, clock);
      const weights = new Float64Array(batch.mask.length).fill(outside ? f : 1);
      batch.records.forEach(({ spans }, row) => {
        const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
        for (const [from, to] of spans?.[name] ?? [])
          weights.fill(outside ? 1 : f, start + from, Math.min(end, start + to));
      });
      return weights;
    },
});
