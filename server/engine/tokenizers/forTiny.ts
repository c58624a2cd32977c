/** The tokenizer of a new `tiny` model, as its config wants it. */
import { statSync } from "node:fs";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import type { TokenizerConfig } from "../../core/blocks/models.ts";
import { CharacterTokenizer } from "./characters.ts";
import type { PolicyTokenizer } from "./types.ts";
import { readTokenizer } from "./index.ts";
import { trainBytePairs } from "./trainBytePairs.ts";

/**
 * @param texts - what byte pairs are learned from where the config names no file; without any only bytes are tokens
 * @throws UserError where the file cannot be read.
 */
export function tokenizerForTiny(
  config: TokenizerConfig | undefined,
  texts: () => Iterable<string>,
): PolicyTokenizer {
  if (config === undefined || config.use === "characters") return new CharacterTokenizer();
  const { file, vocabulary } = config;
  if (file === undefined) return trainBytePairs(texts(), vocabulary, "tasks");
  try {
    if (statSync(file).isDirectory()) return readTokenizer(file);
    return trainBytePairs([readText(file, limits.tokenizer)], vocabulary, file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`model.tokenizer.file ${file} cannot be read: ${readFailure(error)}.`, {
      file,
      code: "tokenizer-file",
      action: "Name a text file, a folder with a tokenizer.json, or `tasks`.",
      cause: error,
    });
  }
}
