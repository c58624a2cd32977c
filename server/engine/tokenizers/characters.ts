/** One token a character: printable ASCII and newline, after pad, bos and eos. The vocabulary of the `tiny` models. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { byteCharacters } from "./byteCharacters.ts";
import { bytePairFiles } from "./bytePairFiles.ts";
import type { PolicyTokenizer } from "./types.ts";

const SPECIAL = ["pad", "bos", "eos"].length;
const CHARACTERS = ["\n", ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))];
const IDS = new Map(CHARACTERS.map((character, index) => [character, SPECIAL + index]));

export class CharacterTokenizer implements PolicyTokenizer {
  readonly name = "characters";
  readonly pad = 0;
  readonly bos = 1;
  readonly eos = 2;
  readonly size = SPECIAL + CHARACTERS.length;
  readonly prefix: readonly number[] = [];
  readonly special: ReadonlySet<number> = new Set([this.pad, this.bos, this.eos]);
  readonly eosAll: readonly number[] = [this.eos];
  readonly hasChat = false;
  readonly byCharacter = true;

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
  chat(): undefined {
    return undefined;
  }
  /** Byte-level byte pairs without a single pair: characters of ASCII are bytes. */
  files(): Readonly<Record<string, JsonObject>> {
    const tokens = CHARACTERS.map((character) => byteCharacters[character.charCodeAt(0)]!);
    return bytePairFiles(tokens, [], { gradus: this.name });
  }
}
