/** How responses are generated. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { VerlDraft } from "./draft.ts";
import { rollout as section } from "./keys.ts";
import { missKeys, type WithoutKeys } from "../../../lens/without.ts";

export function sampling({ rollout }: StageBody, draft: VerlDraft): void {
  draft.set("data.max_response_length", rollout.max_tokens);
  draft.set(`${section}.name`, "vllm");
  draft.set(`${section}.temperature`, draft.constant("rollout.temperature", rollout.temperature));
  draft.set(`${section}.top_p`, rollout.top_p);
  draft.set(`${section}.top_k`, rollout.top_k > 0 ? rollout.top_k : -1);
  // A single GPU holds the model.
  draft.set(`${section}.tensor_model_parallel_size`, 1);
  missKeys(rollout, without, draft);
}

/** Keys that verl has nothing for, with what happens in their place. */
const without: WithoutKeys = {
  min_p: { off: [0], reason: "verl samples without min_p." },
  repetition_penalty: { off: [1], reason: "verl samples without a repetition penalty." },
  presence_penalty: { off: [0], reason: "verl samples without a presence penalty." },
  frequency_penalty: { off: [0], reason: "verl samples without a frequency penalty." },
  min_tokens: { off: [0], reason: "verl has no shortest response." },
  anneal: { reason: "verl's temperature is the same for all tokens of a response." },
  perturb: { reason: "verl generates with the policy's logits alone." },
  stop: { reason: "verl's generation ends at the model's own end tokens alone." },
  prefix: { off: [""], reason: "verl cannot begin a response for the policy: nothing is prefilled." },
  logit_bias: { reason: "verl does not shift logits: nothing is added." },
  grammar: { reason: "verl samples any text: responses need not fit the grammar." },
  budget: { reason: "verl has one limit for all steps: `rollout.max_tokens` is used." },
};
