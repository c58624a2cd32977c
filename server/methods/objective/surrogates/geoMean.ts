import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { anchorColumn, anchorModels, anchorParam } from "./ratioAnchor.ts";
import { Rule } from "../../../core/rows/touched.ts";
import { clipMetrics } from "./surrogate.ts";

const params = z.object({
  low: param(z.number().min(0).default(0.4), "How far a token's log-ratio may fall below 0."),
  high: param(z.number().min(0).default(0.4), "How far a token's log-ratio may rise above 0."),
  anchor: anchorParam,
});
type GeoMean = z.output<typeof params>;

/** Keeps the logarithm of a correction of 0 finite. */
const epsilon = 1e-10;

/** One loss per row, with all factors of the row's tokens: the mean over rows under `sequence_mean`. */
function loss(input: ObjectiveInput, { low, high, anchor: name }: GeoMean): Weighed {
  const { batch, advantages, factors, weights, correction } = input;
  const now = column(input.now, "logp", "the objective");
  const anchor = anchorColumn(input, name);
  const gradient = new Float64Array(now.length);
  const [below, above] = [new Rule("clip_low", now.length), new Rule("clip_high", now.length)];
  let total = 0;
  let trained = 0;
  let ratios = 0;
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    let log = 0;
    let count = 0;
    let advantage = 0;
    let factor = 0;
    let correct = 0;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      const x = now[i]! - anchor[i]!;
      if (advantages[i]! > 0) {
        log += Math.min(x, high);
        if (x > high) above.act(i);
        else gradient[i] = 1;
      } else if (advantages[i]! < 0) {
        log += Math.max(x, -low);
        if (x < -low) below.act(i);
        else gradient[i] = 1;
      }
      count += 1;
      advantage += advantages[i]!;
      factor += factors[i]!;
      if (correction !== undefined) correct += Math.log(correction[i]! + epsilon);
    }
    if (count === 0) continue;
    const ratio = Math.exp(log / count);
    trained += count;
    ratios += count * ratio;
    const part = advantage === 0 ? 0 : factor * (advantage / count) * ratio * Math.exp(correct / count);
    total -= part;
    for (let i = from; i < to; i++) gradient[i] = gradient[i] === 0 ? 0 : -part / count;
  }
  checkLoss(total, input, { logp: now, [`the log-prob of ${name}`]: anchor });
  return {
    loss: total,
    gradients: { logp: gradient },
    metrics:
      trained === 0 ? {} : { "update/ratio_mean": ratios / trained, ...clipMetrics(below, above, trained) },
    touched: { ...below.touched, ...above.touched },
  };
}

export const geoMean = objective({
  name: "geo_mean",
  aliases: ["gmpo"],
  summary:
    "Geometric-mean policy optimization: the mean of clipped token log-ratios makes one ratio per response.",
  formula:
    "ℓ_row = −Ā exp(mean_t clipped log ρ_t), log ρ_t held at high where A_t > 0 and at −low where A_t < 0; each row with the sum of its tokens' factors",
  sources: ["Geometric-Mean Policy Optimization"],
  params,
  create: (params): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(params.anchor),
    needs: { correction: true },
    loss: (input) => loss(input, params),
  }),
});
