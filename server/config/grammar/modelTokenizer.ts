/** `model.tokenizer`: how a `tiny` model reads text. */
import type { TokenizerConfig } from "../../core/blocks/models.ts";
import { z } from "zod";
import type { Fields } from "./shape.ts";

/** Where the texts come from when no file is named. */
const TASKS = "tasks";
export const tokenizerDefaults = { use: "characters", vocabulary: 1024, file: TASKS } as const;

export const tokenizerFields: Fields = {
  use: {
    shape: { kind: "value", schema: z.enum(["characters", "bpe"]) },
    summary:
      "tiny: `characters`, one token for each printable ASCII character, or `bpe`, byte pairs learned from text.",
  },
  vocabulary: {
    shape: { kind: "value", schema: z.number().int().min(259).max(65_536) },
    summary: "bpe: most tokens, the 256 bytes and three special ones included.",
  },
  file: {
    shape: { kind: "path", words: [TASKS], what: "text" },
    summary:
      "bpe: a text file to learn from, a folder whose tokenizer.json is taken, or `tasks`: their own texts.",
  },
};

const schema = z.object({
  use: z.enum(["characters", "bpe"]).default("characters"),
  vocabulary: z.number().default(tokenizerDefaults.vocabulary),
  file: z.string().default(TASKS),
});
export function tokenizerConfig(json: unknown): TokenizerConfig {
  const { use, vocabulary, file } = schema.parse(json ?? {});
  return use === "characters" ? { use } : { use, vocabulary, file: file === TASKS ? undefined : file };
}
