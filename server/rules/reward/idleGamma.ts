import { create } from "../../core/create.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Combiners that make one reward of the terms: it has no source with a discount of its own. */
const joining: ReadonlySet<string> = new Set(["product", "tiers", "max", "soft_min", "pessimism", "veto"]);

/** Why a discount of a term's own changes nothing; undefined: it does. */
function idle({ advantage, reward, rollout }: StageBody): string | undefined {
  const combiner = reward.combine.declaration.name;
  if (joining.has(combiner))
    return `\`combine: ${combiner}\` makes one reward of all terms, which has the discount \`advantage.gamma\`.`;
  const { max_tokens, group } = rollout;
  const made = (): string | undefined =>
    create(advantage.baseline, { random: keyedRandom("gamma"), max_tokens, group }).level;
  const level = advantage.level === "auto" ? (made() ?? "response") : advantage.level;
  if (level === "response")
    return "the advantage is one of the whole response, which discounts nothing. Set `advantage.level: token`, or use a critic.";
  return advantage.returns === "none"
    ? "`advantage.returns: none` sums no later rewards, so there is nothing to discount."
    : undefined;
}

/** A term's own discount acts where the advantage sums later rewards of each source. */
export const idleGamma: Rule = {
  id: "idle-gamma",
  title: "Discount of a term that changes nothing",
  why: "`reward.terms.NAME.gamma` discounts the term's own returns to go, as the released code of Demystifying Long Chain-of-Thought Reasoning does for its repetition penalty. Under a baseline and scale of whole responses nothing is summed to go, and a combiner that makes one number of all terms leaves no source to discount.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    for (const term of body.reward.terms) {
      if (term.gamma === undefined) continue;
      const why = idle(body);
      const path = ["reward", "terms", term.name, "gamma"];
      const at = placeOf(view.body, ...path);
      if (why === undefined || !isOwn(at)) continue;
      reportAt(model, view, idleGamma, [path], {
        severity: "warning",
        message: `\`gamma\` of \`${term.name}\` changes nothing: ${why}`,
        fileFixes: [model.edits.remove(pathIn(view, at, ...path), "Remove `gamma`", false)],
      });
    }
  }),
};
