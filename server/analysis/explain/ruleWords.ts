/** What the rules that act on tokens do, in words. A rule without words of its own is told by its name. */
import type { TokenRule } from "../../../shared/why.ts";
import { masks } from "../../methods/mask/index.ts";

const words: Readonly<Record<string, string>> = {
  observed: "the environment wrote it, not the model",
  given: "it was given to the model, not written by it",
  recorded_mask: "left out by the recorded mask",
  no_advantage: "there is no advantage to train on",
  clip_high: "its ratio has risen past the upper bound and the advantage would push it further: no gradient",
  clip_low: "its ratio has fallen past the lower bound and the advantage would push it further: no gradient",
  dual_clip: "its ratio is so large that the loss of a negative advantage is capped: no gradient",
  trust_high: "it has become more likely than the trust region allows: no gradient",
  trust_low: "it has become less likely than the trust region allows: no gradient",
  covariance: "its log-prob and its advantage vary together more than most tokens' do",
  truncate: "its correction weight is cut to the bound",
  mask: "its correction weight is out of bounds: it gives nothing",
  reject: "its correction weight is out of bounds: it does not train",
};

/** Reports call a method of the mask slot `mask: name`, numbered where a config has one twice. */
const ofMask = /^mask: (\w+)/;

export function textOf(rule: string): string {
  const name = ofMask.exec(rule)?.[1];
  const summary = masks.find((mask) => mask.name === name)?.summary;
  return summary?.replace(/\.$/, "") ?? words[rule] ?? `touched by ${rule.replaceAll("_", " ")}`;
}

export const effectOf = (rule: string): TokenRule["effect"] =>
  /clip|trust/.test(rule) ? "clipped" : /reject|mask/.test(rule) ? "masked" : "weighted";
