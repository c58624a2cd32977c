/** One token a character: printable ASCII and newline, after pad, bos and eos. The vocabulary of the `tiny` models. */
import { UserError } from "../../../shared/errors.ts";
import type { Tokenizer } from "../../seams.ts";

const SPECIAL = 3;
const CHARACTERS = ["\n", ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))];
const IDS = new Map(CHARACTERS.map((character, index) => [character, SPECIAL + index]));

export class CharacterTokenizer implements Tokenizer {
  readonly name = "characters";
  readonly pad = 0;
  readonly bos = 1;
  readonly eos = 2;
  readonly size = SPECIAL + CHARACTERS.length;

  /** @throws UserError on a character outside the vocabulary. */
  encode(text: string): Int32Array {
    return Int32Array.from(Array.from(text), (character) => {
      const id = IDS.get(character);
      if (id !== undefined) return id;
      throw new UserError(
        `The character ${JSON.stringify(character)} in ${JSON.stringify(text.slice(0, 60))} is not in the tiny model's vocabulary.`,
        {
          code: "character-unknown",
          action:
            "Tiny models read printable ASCII and newlines: replace the character in the data or the prompt template.",
        },
      );
    });
  }
  /** Special tokens have no text. */
  decode(tokens: ArrayLike<number>): string {
    return Array.from(tokens, (id) => CHARACTERS[id - SPECIAL] ?? "").join("");
  }
}
