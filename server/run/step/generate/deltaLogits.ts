/** What two other models, one before and one after training, add to the policy's logits. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import type { DecodeOptions, Models, Policy } from "../../../core/policy.ts";
import { checkSameTokens } from "../../../engine/tokenizers/index.ts";

type Delta = NonNullable<StageBody["rollout"]["delta_logits"]>;
type Shift = NonNullable<DecodeOptions["logits_shift"]>;

/** @throws UserError where a model has other tokens than the policy */
function readerOf(models: Models, name: string): { readonly model: string; readonly reader: Policy } {
  // A snapshot of the policy is known to its own view.
  const reader = models.get(models.names.includes(name) ? name : "policy");
  checkSameTokens(
    { name: "The policy", tokenizer: models.get("policy").tokenizer },
    { name: `the model ${name}`, tokenizer: reader.tokenizer },
    {
      code: "model-tokenizer",
      so: "logits of one say nothing about the other's tokens",
      action: `Give models.${name} a base with the policy's tokenizer.`,
    },
  );
  return { model: name, reader };
}

/** λ (ℓ_model − ℓ_base) after each text; of a word that only one of them has, nothing is known. */
export function deltaLogits({ model, base, lambda }: Delta, models: Models): Shift {
  const [trained, before] = [readerOf(models, model), readerOf(models, base)];
  return async (texts) => {
    const room = Math.min(trained.reader.context, before.reader.context) - 1;
    const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
    if (longest > room) throw tooLong(longest, room);
    const after = await trained.reader.nextLogits(texts, trained.model);
    const start = await before.reader.nextLogits(texts, before.model);
    return after.map((own, i) =>
      own.slice(0, start[i]!.length).map((logit, word) => lambda * (logit - start[i]![word]!)),
    );
  };
}

const tooLong = (tokens: number, room: number): UserError =>
  new UserError(`A text has ${tokens} tokens, and the models of rollout.delta_logits can read ${room}.`, {
    code: "row-too-long",
    action: "Shorten prompts or rollout.max_tokens, or give these models a longer context.",
  });
