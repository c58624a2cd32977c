import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { anchorParam, betaParam } from "./anchor.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { anchorColumn, anchorModels } from "./rowLevel.ts";
import { firstTrained, spanMass, spansOf } from "./spans.ts";
import { returnsOf } from "./tokenRewards.ts";
import { headChannel, headParam } from "./valueParams.ts";

const params = z.object({
  beta: betaParam(0.03),
  anchor: anchorParam("reference"),
  level: z
    .enum(["token", "step", "turn", "response"])
    .default("token")
    .describe("What one action is: the state before it has a value, and its log-ratio trains."),
  head: headParam("value"),
  value_weight: z.number().min(0).default(1).describe("Factor on the loss of the value head."),
  gamma: z.number().min(0).max(1).default(1).describe("Discount of rewards to come; the paper has none."),
});

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const { beta, anchor, level, head, value_weight: coefficient, gamma } = options;
  const { batch, weights } = input;
  const logp = column(input.now, "logp", "oreo");
  const other = anchorColumn(input.old, anchor);
  const value = column(input.now, headChannel(head), "oreo");
  const returns = returnsOf(input, gamma);
  const spans = spansOf(batch, level);
  const mass = spanMass(spans, level, input);
  const byLogp = new Float64Array(weights.length);
  const byValue = new Float64Array(weights.length);
  let [total, row, later] = [0, -1, 0];
  for (let k = spans.starts.length - 1; k >= 0; k--) {
    const [start, end] = [spans.starts[k]!, spans.ends[k]!];
    const first = firstTrained(weights, start, end);
    if (spans.rows[k] !== row) [row, later] = [spans.rows[k]!, 0];
    if (first < 0) continue;
    // `later` ends up as β Σ_{i ≥ t} of the log-ratios; what came after the present action is constant.
    for (let t = start; t < end; t++)
      if (weights[t] !== 0) later += beta * weights[t]! * (logp[t]! - (other?.[t] ?? 0));
    const residual = value[first]! - returns[first]! + later;
    total += (1 + coefficient) * mass[k]! * residual * residual;
    byValue[first] = 2 * coefficient * mass[k]! * residual;
    for (let t = start; t < end; t++)
      if (weights[t] !== 0) byLogp[t] = 2 * beta * mass[k]! * residual * weights[t]!;
  }
  checkLoss(total, input, {
    "the policy's log-prob": logp,
    [`the log-prob of ${anchor}`]: other,
    [`the value of head ${head}`]: value,
  });
  return { loss: total, gradients: { logp: byLogp, [headChannel(head)]: byValue } };
}

export const oreo = objective({
  name: "oreo",
  summary:
    "Path consistency: a state's value, less what the response pays, equals −β times the log-ratios still to come.",
  formula:
    "ℓ = (V(s_t) − R_t + β Σ_{i≥t} log π/π_ref)²; the policy trains on the present action, V on the whole",
  sources: ["Offline Reinforcement Learning for LLM Multi-Step Reasoning"],
  params,
  create: (options): Objective => ({
    channels: ["logp", headChannel(options.head)],
    models: anchorModels(options.anchor),
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
