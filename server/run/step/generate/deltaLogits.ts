/** What two other models, one before and one after training, add to the policy's logits. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import { readerOf, type DecodeOptions, type Models, type Tokenizer } from "../../../core/policy.ts";
import { checkSameTokens } from "../../../engine/tokenizers/index.ts";

type Delta = NonNullable<StageBody["rollout"]["delta_logits"]>;
type Shift = NonNullable<DecodeOptions["logits_shift"]>;

/** A model whose logits are read. */
interface Reader {
  /** What a person calls it. */
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly context: number;
  nextLogits(texts: readonly Int32Array[]): Promise<readonly Float32Array[]>;
}

function logitsOf(models: Models, name: string): Reader {
  const reader = readerOf(models, name);
  const { tokenizer, context } = reader;
  return { name, tokenizer, context, nextLogits: (texts) => reader.nextLogits(texts, name) };
}

/** Of models of a run. */
export const deltaLogits = ({ model, base, lambda }: Delta, models: Models): Shift =>
  logitsBetween(models.get("policy").tokenizer, logitsOf(models, model), logitsOf(models, base), lambda);

/**
 * λ (ℓ_trained − ℓ_before) after each text; of a word that only one of them has, nothing is known.
 * @throws UserError where a model has other tokens than the policy
 */
export function logitsBetween(tokenizer: Tokenizer, trained: Reader, before: Reader, lambda: number): Shift {
  for (const { name, tokenizer: own } of [trained, before])
    checkSameTokens(
      { name: "The policy", tokenizer },
      { name: `the model ${name}`, tokenizer: own },
      {
        code: "model-tokenizer",
        so: "logits of one say nothing about the other's tokens",
        action: `Choose a model with the policy's tokenizer in the place of ${name}.`,
      },
    );
  const room = Math.min(trained.context, before.context) - 1;
  return async (texts) => {
    const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
    if (longest > room) throw tooLong(longest, room);
    const after = await trained.nextLogits(texts);
    const start = await before.nextLogits(texts);
    return after.map((own, i) =>
      own.slice(0, start[i]!.length).map((logit, word) => lambda * (logit - start[i]![word]!)),
    );
  };
}

const tooLong = (tokens: number, room: number): UserError =>
  new UserError(`A text has ${tokens} tokens, and the models whose logits are added can read ${room}.`, {
    code: "row-too-long",
    action: "Shorten prompts or responses, or give these models a longer context.",
  });
