import { setTo } from "../../fixes.ts";
import { actor, found, ref, rollout, shortName, size, verlRule } from "../../rule.ts";
import { sequenceParallel, usesReference } from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const lengths = ["data.max_prompt_length", "data.max_response_length"];

function ofBudget(model: RuleModel, flag: string, key: string): RuleDiagnostic[] {
  const [prompt, response, budget] = [...lengths, key].map((name) => size(model, name));
  const sequence = sequenceParallel(model)?.count;
  if (model.flag(flag) !== true || sequence === undefined) return [];
  if (prompt === undefined || response === undefined || budget === undefined) return [];
  const longest = prompt + response;
  if (budget * sequence >= longest) return [];
  const times = sequence === 1 ? "" : ` × ${sequence} GPUs a sequence = ${budget * sequence}`;
  const least = Math.ceil(longest / sequence);
  const message = `\`${shortName(key)}\` ${budget}${times} tokens cannot hold a sequence of ${prompt} + ${response} = ${longest} tokens: the first one that long stops the run.`;
  return found(model, [key, lengths[1]!, lengths[0]!, flag], message, {
    fixes: [setTo(model, key, least, `${prompt} + ${response}${sequence === 1 ? "" : `, by ${sequence}`}`)],
  });
}

export const tokenBudget = verlRule({
  id: "verl-token-budget",
  title: "Token budget below the longest sequence",
  why: "`rearrange_micro_batches` (verl/utils/seqlen_balancing.py) asserts that the budget, times the GPUs per sequence, is at least the longest sequence of the batch: `max_prompt_length` + `max_response_length` when a response uses its limit. The first update with such a sequence fails.",
  check(model) {
    const own = ofBudget(model, `${actor}.use_dynamic_bsz`, `${actor}.ppo_max_token_len_per_gpu`);
    // The others take the actor's budget unless they have one of their own.
    const others = [rollout, ...(usesReference(model) ? [ref] : [])]
      .filter((section) => model.written(`${section}.log_prob_max_token_len_per_gpu`) !== undefined)
      .flatMap((section) =>
        ofBudget(model, `${section}.log_prob_use_dynamic_bsz`, `${section}.log_prob_max_token_len_per_gpu`),
      );
    return [...own, ...others];
  },
});
