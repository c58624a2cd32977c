/** How responses are generated. What vLLM alone reads travels in `extra_body`. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { PrimeDraft } from "./draft.ts";
import { sampling as section, source } from "./keys.ts";
import { missKeys, type WithoutKeys } from "../../../lens/without.ts";

/** Parameters of vLLM with their values where they do nothing. */
const vllm = {
  top_k: 0,
  min_p: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  min_tokens: 0,
} as const;

export function sampling({ rollout, objective }: StageBody, draft: PrimeDraft): void {
  draft.set(`${section}.max_completion_tokens`, rollout.max_tokens);
  draft.set(`${section}.temperature`, draft.constant("rollout.temperature", rollout.temperature));
  const extra = Object.entries(vllm).flatMap(([key, off]): [string, Json][] => {
    const value = rollout[key as keyof typeof vllm];
    return value === off ? [] : [[key, value]];
  });
  if (extra.length > 0) draft.set(`${section}.extra_body`, Object.fromEntries(extra));
  // prime-rl itself always asks for the whole distribution; the environment's agent has the last word.
  if (rollout.top_p !== 1) draft.set(`${source}.env.agent.sampling.top_p`, rollout.top_p);
  missKeys(rollout, without, draft);
  const { params } = objective.loss;
  if ((extra.length > 0 || rollout.top_p !== 1) && "anchor" in params && params["anchor"] !== "sampled")
    draft.miss(
      "objective.anchor",
      params["anchor"],
      "prime-rl's ratio is to the distribution that vLLM drew from, which these settings of `rollout` narrow.",
    );
  if (rollout.budget !== undefined)
    draft.miss(
      "rollout.budget",
      rollout.budget,
      "prime-rl has one limit for all steps: `rollout.max_tokens` is used.",
    );
}

/** Keys that prime-rl has nothing for, with what happens in their place. */
const without: WithoutKeys = {
  anneal: { reason: "prime-rl's temperature is the same for all tokens of a response." },
  perturb: { reason: "prime-rl generates with the policy's logits alone." },
  stop: { reason: "prime-rl's generation ends at the model's own end tokens alone." },
  prefix: { off: [""], reason: "prime-rl cannot begin a response for the policy: nothing is prefilled." },
  logit_bias: { reason: "prime-rl does not shift logits: nothing is added." },
  grammar: { reason: "prime-rl samples any text: responses need not fit the grammar." },
};
