/** What the rules that act on tokens do, in words. A rule without words of its own is told by its name. */
import type { TokenRule } from "../../shared/why.ts";

const words: Readonly<Record<string, string>> = {
  observed: "the environment wrote it, not the model",
  given: "it was given to the model, not written by it",
  written: "the model did not write it",
  mask: "left out by the recorded mask",
  no_advantage: "there is no advantage to train on",
  clip_high: "its ratio has risen past the upper bound and the advantage would push it further: no gradient",
  clip_low: "its ratio has fallen past the lower bound and the advantage would push it further: no gradient",
  dual_clip: "its ratio is so large that the loss of a negative advantage is capped: no gradient",
  cap: "its ratio is capped: the gradient is weighted by the cap",
  truncate: "its correction weight is truncated",
  reject: "its correction weight is out of bounds: it does not train",
};

export const textOf = (rule: string): string => words[rule] ?? `touched by ${rule.replaceAll("_", " ")}`;

export const effectOf = (rule: string): TokenRule["effect"] =>
  /clip/.test(rule) ? "clipped" : /reject|mask/.test(rule) ? "masked" : "weighted";
