import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { tokenWeight } from "../../../core/declaration.ts";

export const spanWeight = tokenWeight({
  name: "spans",
  summary:
    "A factor on the tokens in the rollouts' recorded spans of one name (`spans`, e.g. `error` or `executed`), or on all other tokens.",
  formula: "w_t = f for t in a span of that name, else 1",
  sources: ["RLTF: Reinforcement Learning from Unit Test Feedback"],
  params: z.object({
    name: z.string().min(1).describe("Name of the spans."),
    factor: schedulable(z.number().nonnegative()).describe("f"),
    outside: z.boolean().default(false).describe("The factor acts on the tokens outside the spans."),
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
