/** Tokenizers by the name that a checkpoint's tokenizer.json records. */
import { UserError } from "../../../shared/errors.ts";
import type { Tokenizer } from "../../seams.ts";
import { CharacterTokenizer } from "./characters.ts";

export interface PolicyTokenizer extends Tokenizer {
  readonly name: string;
  readonly bos: number;
}

export function tokenizerByName(name: string, file: string): PolicyTokenizer {
  if (name === "characters") return new CharacterTokenizer();
  throw new UserError(`The tokenizer ${name} of this checkpoint is not known.`, {
    file,
    code: "tokenizer-unknown",
    action: "Use a checkpoint written by this version of gradus.",
  });
}
