/** A byte-level tokenizer of our own as the files that transformers reads. */
import type { JsonObject } from "../../../shared/lib/json.ts";

/** Names that no text of the `tiny` vocabulary contains, so that text is never read as one. */
const SPECIAL = ["⟨pad⟩", "⟨bos⟩", "⟨eos⟩"] as const;
const [PAD, BOS, EOS] = SPECIAL;

/**
 * @param tokens - after pad, bos and eos, in byte characters
 * @param merges - pairs of tokens, best first
 * @param more - further keys of tokenizer_config.json
 */
export function bytePairFiles(
  tokens: readonly string[],
  merges: readonly (readonly [string, string])[],
  more: JsonObject = {},
): Readonly<Record<string, JsonObject>> {
  const vocab = Object.fromEntries([...SPECIAL, ...tokens].map((token, id) => [token, id]));
  const step: JsonObject = {
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  };
  return {
    "tokenizer.json": {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: SPECIAL.map((content, id) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      })),
      normalizer: null,
      pre_tokenizer: step,
      post_processor: null,
      decoder: step,
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab,
        merges,
      },
    },
    "tokenizer_config.json": {
      tokenizer_class: "PreTrainedTokenizerFast",
      clean_up_tokenization_spaces: false,
      add_bos_token: false,
      bos_token: BOS,
      eos_token: EOS,
      pad_token: PAD,
      ...more,
    },
    "generation_config.json": { bos_token_id: 1, eos_token_id: 2, pad_token_id: 0 },
  };
}
