/** What divergences of whole distributions share. */
import { z } from "zod";
import { param } from "../../core/declaration.ts";
import type { KlEstimator, WholeDivergence } from "../../core/slots/kl.ts";

export const wholeParams = {
  top_k: param(
    z.number().int().min(2).nullable().default(null),
    "Top-k distillation: compares only the other model's k likeliest tokens at each position, and those as likely as the last of them. Default: all.",
  ),
  temperature: param(
    z.number().positive().default(1),
    "Divides both models' logits before they are compared, as distillation does; the sampler's own is `rollout.temperature`.",
  ),
};
type Options = z.output<z.ZodObject<typeof wholeParams>>;

const refuse = (): never => {
  throw new Error("a divergence of whole distributions is a channel, not a function of two log-probs");
};

export const wholeEstimator = (
  { top_k, temperature }: Options,
  more: Pick<WholeDivergence, "beta"> = {},
): KlEstimator => ({
  value: refuse,
  slope: refuse,
  full: { top_k: top_k ?? undefined, temperature, ...more },
});
