import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { clamped } from "./numbers.ts";
import { returnsOf } from "./tokenRewards.ts";
import { gammaParam, headChannel, headParam } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  clip: z
    .number()
    .gt(0)
    .nullable()
    .default(0.2)
    .describe(
      "How far the value may move from what it was before the update; null: no clip. verl: cliprange_value 0.5.",
    ),
  gamma: gammaParam,
});

/** Values as they were when the advantages were made; without them there is nothing to clip at. */
const earlier = ({ old, batch }: ObjectiveInput, head: string): Float64Array | undefined =>
  old[headChannel(head)] ?? (head === "value" ? batch.columns.values : undefined);

function loss(input: ObjectiveInput, { head, clip, gamma }: z.output<typeof params>): Weighed {
  const { weights, factors } = input;
  const now = column(input.now, headChannel(head), "the value loss");
  const old = clip === null ? undefined : earlier(input, head);
  const returns = returnsOf(input, gamma);
  const gradient = new Float64Array(weights.length);
  let [total, clips, count, mean, square] = [0, 0, 0, 0, 0];
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const error = now[t]! - returns[t]!;
    const before = old?.[t] ?? Number.NaN;
    const near = Number.isNaN(before)
      ? error
      : clamped(now[t]!, before - clip!, before + clip!) - returns[t]!;
    const acts = near * near > error * error;
    total += 0.5 * factors[t]! * (acts ? near * near : error * error);
    if (!acts) gradient[t] = factors[t]! * error;
    clips += acts ? 1 : 0;
    count += 1;
    mean += returns[t]!;
    square += error * error;
  }
  checkLoss(total, input, { [`the value of head ${head}`]: now, "the return": returns });
  return {
    loss: total,
    gradients: { [headChannel(head)]: gradient },
    metrics:
      count === 0
        ? {}
        : {
            "value/clip_fraction": clips / count,
            "value/return": mean / count,
            "value/error": square / count,
          },
  };
}

export const valueClipped = objective({
  name: "value_clipped",
  aliases: ["value"],
  summary:
    "A value head is regressed on returns, moving no farther in one update than a clip allows: PPO's critic.",
  formula: "ℓ = ½ max((V − R)², (clip(V, V_old ± c) − R)²)",
  sources: ["Proximal Policy Optimization Algorithms", "HybridFlow: A Flexible and Efficient RLHF Framework"],
  params,
  create: (options): Objective => ({
    channels: [headChannel(options.head)],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
