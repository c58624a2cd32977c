/** What a pair's logit costs: how far the better answer is ahead of the worse. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { logSigmoid, sigmoid } from "../numbers.ts";

export const smoothing = param(
  z.number().min(0).lt(0.5).default(0),
  "Probability that a label is flipped, for the logistic and robust links.",
);

export const linkParams = {
  link: param(
    z.enum(["logistic", "hinge", "robust", "discopop"]).default("logistic"),
    "hinge: max(0, 1 − x); robust: logistic with the bias of flipped labels taken out; discopop: logistic where the pair is in the wrong order, exponential where it is right.",
  ),
  label_smoothing: smoothing,
  tau: param(
    z.number().positive().max(1).default(0.05),
    "For the discopop link: how sharply it changes from one to the other (`discopop_tau`).",
  ),
};
type LinkOptions = z.output<z.ZodObject<typeof linkParams>>;

/** −(1 − ε) log σ(x) − ε log σ(−x), and its derivative. */
export const smoothed = (x: number, flipped: number): [number, number] => [
  -(1 - flipped) * logSigmoid(x) - flipped * logSigmoid(-x),
  -(1 - flipped) * sigmoid(-x) + flipped * sigmoid(x),
];

/** The bias of flipped labels taken out: (1 − ε) and −ε, over 1 − 2ε. */
function robust(x: number, flipped: number): [number, number] {
  const scale = 1 / (1 - 2 * flipped);
  return [
    -scale * ((1 - flipped) * logSigmoid(x) - flipped * logSigmoid(-x)),
    -scale * ((1 - flipped) * sigmoid(-x) + flipped * sigmoid(x)),
  ];
}

/** −(1 − m) log σ(x) + m e^−x with m = σ(x / τ); the products are taken in logs, where e^−x alone would overflow. */
function discopop(x: number, tau: number): [number, number] {
  const [on, off] = [sigmoid(x / tau), sigmoid(-x / tau)];
  const exponential = Math.exp(logSigmoid(x / tau) - x);
  const turning = Math.exp(logSigmoid(x / tau) + logSigmoid(-x / tau) - x) / tau;
  return [
    -off * logSigmoid(x) + exponential,
    -off * sigmoid(-x) + (on * off * logSigmoid(x)) / tau - exponential + turning,
  ];
}

/** Value of the link and its derivative. */
export function linked(x: number, { link, label_smoothing: flipped, tau }: LinkOptions): [number, number] {
  switch (link) {
    case "hinge":
      return x < 1 ? [1 - x, -1] : [0, 0];
    case "robust":
      return robust(x, flipped);
    case "discopop":
      return discopop(x, tau);
    case "logistic":
      return smoothed(x, flipped);
  }
}
