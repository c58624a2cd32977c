/** How responses are generated. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm, sampling as section } from "./keys.ts";
import { missKeys, type WithoutKeys } from "../../../lens/without.ts";

export function sampling({ rollout }: StageBody, draft: SkyrlDraft): void {
  const temperature = draft.constant("rollout.temperature", rollout.temperature);
  draft.set(`${section}.max_generate_length`, rollout.max_tokens);
  draft.set(`${section}.temperature`, temperature);
  // Where it is not said, SkyRL divides the logits of all that trains by the sampler's temperature.
  if (temperature !== 1) draft.set(`${algorithm}.temperature`, 1);
  draft.set(`${section}.top_p`, rollout.top_p);
  draft.set(`${section}.top_k`, rollout.top_k > 0 ? rollout.top_k : -1);
  draft.set(`${section}.min_p`, rollout.min_p);
  const { stop } = rollout;
  if (Array.isArray(stop) && stop.length > 0) stopped(stop, draft);
  draft.set(`${section}.additional_kwargs`, further(rollout));
  missKeys(rollout, without, draft);
}

function stopped(stop: readonly string[], draft: SkyrlDraft): void {
  draft.set(`${section}.stop`, [...stop]);
  // The token is put there by hand, and the loss leaves it out.
  draft.set("generator.append_eos_token_after_stop_str_in_multi_turn", false);
}

/** What SkyRL hands to vLLM as it is: of its own keys it hands on no penalty. */
function further(rollout: StageBody["rollout"]): JsonObject | undefined {
  const { repetition_penalty: repeated, presence_penalty: present, frequency_penalty: frequent } = rollout;
  const found: JsonObject = {
    ...(repeated === 1 ? {} : { repetition_penalty: repeated }),
    ...(present === 0 ? {} : { presence_penalty: present }),
    ...(frequent === 0 ? {} : { frequency_penalty: frequent }),
  };
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Keys that SkyRL has nothing for, with what happens in their place. */
const without: WithoutKeys = {
  min_tokens: { off: [0, 1], reason: "SkyRL's shortest response has one token." },
  anneal: { reason: "SkyRL's temperature is the same for all tokens of a response." },
  perturb: { reason: "SkyRL generates with the policy's logits alone." },
  prefix: { off: [""], reason: "SkyRL cannot begin a response for the policy: nothing is prefilled." },
  logit_bias: { reason: "The exported trainer does not shift logits: nothing is added." },
  grammar: { reason: "SkyRL samples any text: responses need not fit the grammar." },
  budget: { reason: "SkyRL has one limit for all steps: `rollout.max_tokens` is used." },
};
