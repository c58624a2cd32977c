/** How responses are generated. */
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import type { TrlDraft } from "./draft.ts";

export function sampling({ rollout }: StageBody, draft: TrlDraft): void {
  draft.set("max_completion_length", rollout.max_tokens);
  draft.set("temperature", draft.constant("rollout.temperature", rollout.temperature));
  draft.set("top_p", rollout.top_p);
  draft.set("top_k", rollout.top_k);
  if (rollout.min_p > 0) draft.set("min_p", rollout.min_p);
  draft.set("repetition_penalty", rollout.repetition_penalty);
  if (rollout.min_tokens > 0) draft.set("generation_kwargs", { min_new_tokens: rollout.min_tokens });
  for (const [key, reason] of Object.entries(without)) {
    const value = rollout[key as keyof typeof without];
    if (!isOff(value)) draft.miss(`rollout.${key}`, value, reason);
  }
  if (rollout.budget !== undefined)
    draft.miss(
      "rollout.budget",
      rollout.budget,
      "TRL has one limit for all steps: `rollout.max_tokens` is used.",
    );
}

/** Keys that TRL has nothing for, with what happens in their place. */
const without = {
  presence_penalty: "TRL's own generation has no presence penalty: none is used.",
  frequency_penalty: "TRL's own generation has no frequency penalty: none is used.",
  anneal: "TRL's temperature is the same for all tokens of a response.",
  perturb: "TRL generates with the policy's logits alone.",
  stop: "TRL's generation ends at the model's own end tokens alone.",
  prefix: "TRL cannot begin a response for the policy: nothing is prefilled.",
  logit_bias: "TRL does not shift logits: nothing is added.",
  grammar: "TRL samples any text: responses need not fit the grammar.",
} as const;

const isOff = (value: unknown): boolean =>
  value === undefined ||
  value === 0 ||
  value === "" ||
  (typeof value === "object" && value !== null && Object.keys(value as JsonObject).length === 0);
