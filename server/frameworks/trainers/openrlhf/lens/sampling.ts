/** How responses are generated. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { OpenRlhfDraft } from "./draft.ts";
import { missKeys, type WithoutKeys } from "../../../lens/without.ts";

export function sampling({ rollout }: StageBody, draft: OpenRlhfDraft): void {
  draft.set("rollout.max_new_tokens", rollout.max_tokens);
  draft.set("rollout.temperature", draft.constant("rollout.temperature", rollout.temperature));
  draft.set("rollout.top_p", rollout.top_p);
  if (rollout.top_k > 0)
    draft.miss("rollout.top_k", rollout.top_k, "OpenRLHF samples from all tokens: it has no top_k.");
  shortest(rollout.min_tokens, draft);
  missKeys(rollout, without, draft);
}

/** vLLM is told that a response has a token at least, so that none is without one that trains. */
function shortest(tokens: number, draft: OpenRlhfDraft): void {
  if (tokens === 1) return;
  draft.miss(
    "rollout.min_tokens",
    tokens,
    "An end of the text is no first token of OpenRLHF's responses: each has one before it, and may end after it.",
    tokens === 0 ? "guard" : "algorithm",
  );
}

/** Keys that OpenRLHF has nothing for, with what happens in their place. */
const without: WithoutKeys = {
  min_p: { off: [0], reason: "OpenRLHF samples without min_p." },
  repetition_penalty: { off: [1], reason: "OpenRLHF samples without a repetition penalty." },
  presence_penalty: { off: [0], reason: "OpenRLHF samples without a presence penalty." },
  frequency_penalty: { off: [0], reason: "OpenRLHF samples without a frequency penalty." },
  anneal: { reason: "OpenRLHF's temperature is the same for all tokens of a response." },
  perturb: { reason: "OpenRLHF generates with the policy's logits alone." },
  stop: { reason: "OpenRLHF's generation ends at the model's own end tokens alone." },
  prefix: { off: [""], reason: "OpenRLHF cannot begin a response for the policy: nothing is prefilled." },
  logit_bias: { reason: "OpenRLHF does not shift logits: nothing is added." },
  grammar: { reason: "OpenRLHF samples any text: responses need not fit the grammar." },
  budget: {
    reason: "OpenRLHF has one limit for all steps: `rollout.max_tokens` is used.",
  },
};
