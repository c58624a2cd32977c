/** How responses are generated. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { TrlDraft } from "./draft.ts";
import { missKeys, type WithoutKeys } from "../../../lens/without.ts";

export function sampling({ rollout }: StageBody, draft: TrlDraft): void {
  draft.set("max_completion_length", rollout.max_tokens);
  draft.set("temperature", draft.constant("rollout.temperature", rollout.temperature));
  draft.set("top_p", rollout.top_p);
  draft.set("top_k", rollout.top_k);
  if (rollout.min_p > 0) draft.set("min_p", rollout.min_p);
  draft.set("repetition_penalty", rollout.repetition_penalty);
  if (rollout.min_tokens > 0) draft.set("generation_kwargs", { min_new_tokens: rollout.min_tokens });
  missKeys(rollout, without, draft);
}

/** Keys that TRL has nothing for, with what happens in their place. */
const without: WithoutKeys = {
  presence_penalty: { off: [0], reason: "TRL's own generation has no presence penalty: none is used." },
  frequency_penalty: { off: [0], reason: "TRL's own generation has no frequency penalty: none is used." },
  anneal: { reason: "TRL's temperature is the same for all tokens of a response." },
  perturb: { reason: "TRL generates with the policy's logits alone." },
  stop: { reason: "TRL's generation ends at the model's own end tokens alone." },
  prefix: { off: [""], reason: "TRL cannot begin a response for the policy: nothing is prefilled." },
  logit_bias: { reason: "TRL does not shift logits: nothing is added." },
  grammar: { reason: "TRL samples any text: responses need not fit the grammar." },
  budget: { reason: "TRL has one limit for all steps: `rollout.max_tokens` is used." },
};
