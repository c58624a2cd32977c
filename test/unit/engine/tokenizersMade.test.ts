/** Small made tokenizers in which the JavaScript pipeline and the Rust one differed; ids are those of `tokenizers` 0.23. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { HuggingFaceTokenizer } from "../../../server/engine/tokenizers/index.ts";
import { byteCharacters } from "../../../server/engine/tokenizers/byteCharacters.ts";

const made = (tokenizer: JsonObject): HuggingFaceTokenizer =>
  new HuggingFaceTokenizer({
    tokenizer,
    config: { eos_token: "</s>" },
    name: "made",
    file: "tokenizer.json",
  });
const added = (id: number, content: string, special: boolean): JsonObject => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special,
});

function check(
  tokenizer: HuggingFaceTokenizer,
  expected: readonly (readonly [string, readonly number[]])[],
): void {
  for (const [text, ids] of expected)
    assert.deepEqual([...tokenizer.encode(text)], ids, JSON.stringify(text));
}

test("gpt2 with add_prefix_space cuts U+0085 and U+FEFF as Rust's pipeline does", () => {
  const byte = {
    type: "ByteLevel",
    add_prefix_space: true,
    trim_offsets: true,
    use_regex: true,
  };
  const merges = [
    ["Ġ", "a"],
    ["a", "b"],
    ["Ġ", "Ġ"],
    ["Â", "ħ"],
    ["Ġa", "b"],
    ["Ġ", "Â"],
  ];
  const tokens = [...byteCharacters].sort().concat(
    merges.map((pair) => pair.join("")),
    "</s>",
  );
  const tokenizer = made({
    added_tokens: [added(262, "</s>", true)],
    normalizer: null,
    pre_tokenizer: byte,
    post_processor: null,
    decoder: byte,
    model: { type: "BPE", vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges },
  });
  check(tokenizer, [
    ["ab", [260]],
    [" ab", [260]],
    ["a\u0085b", [256, 259, 65]],
    ["\u0085", [220, 259]],
    ["\u0085 ab", [220, 259, 260]],
    ["ab\u0085\u0085ab", [260, 259, 259, 257]],
    ["\ufeffab", [220, 171, 119, 123, 257]],
    ["\n ab", [220, 198, 260]],
    ["ab  ab", [260, 220, 260]],
    ["ab</s>ab", [260, 262, 260]],
    ["</s>\u0085", [262, 220, 259]],
  ]);
});

test("runs of ▁ that are added tokens and that no merge makes are found only as they are written", () => {
  const tokenizer = made({
    added_tokens: [added(1, "</s>", true), added(7, "▁▁", false), added(8, "▁▁▁", false)],
    normalizer: { type: "Replace", pattern: { String: " " }, content: "▁" },
    pre_tokenizer: {
      type: "Split",
      pattern: { String: " " },
      behavior: "MergedWithPrevious",
      invert: false,
    },
    post_processor: null,
    decoder: { type: "Replace", pattern: { String: "▁" }, content: " " },
    model: {
      type: "BPE",
      unk_token: "<unk>",
      fuse_unk: true,
      byte_fallback: false,
      vocab: { "<unk>": 0, "</s>": 1, "▁": 2, a: 3, b: 4, ab: 5, "▁a": 6, "▁▁": 7, "▁▁▁": 8 },
      merges: [
        ["a", "b"],
        ["▁", "a"],
      ],
    },
  });
  check(tokenizer, [
    ["a  b", [3, 2, 2, 4]],
    ["a▁▁b", [3, 7, 4]],
    ["  ab", [2, 2, 5]],
    ["a   b", [3, 2, 2, 2, 4]],
    ["a▁▁▁▁▁b", [3, 8, 7, 4]],
    ["a ▁b", [3, 2, 2, 4]],
    ["ab", [5]],
  ]);
});

test("word pieces cut Chinese characters beyond the first plane", () => {
  const tokenizer = made({
    added_tokens: [added(1, "</s>", true)],
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: {
        "[UNK]": 0,
        "</s>": 1,
        a: 2,
        b: 3,
        "##b": 4,
        "\u{20000}": 5,
        "\u{2F800}": 6,
        "\u4e00": 7,
        "##\u{20000}": 8,
        "a\u{2B820}": 10,
        "\u{2B920}": 11,
      },
    },
  });
  check(tokenizer, [
    ["a\u{20000}b", [2, 5, 3]],
    ["\u{20000}\u{20000}", [5, 5]],
    ["a\u4e00b", [2, 7, 3]],
    ["a\u{2B820}b", [10, 4]],
    ["a\u{2B920}b", [2, 11, 3]],
    ["\u{20000} b", [5, 3]],
    ["a\u{2F801}b", [2, 0, 3]],
  ]);
});

test("runs of ▁ that are added tokens are found in normalised text where they say so", () => {
  const run = (id: number, content: string): JsonObject => ({
    ...added(id, content, false),
    normalized: true,
  });
  const tokenizer = made({
    added_tokens: [added(1, "</s>", true), run(7, "▁▁"), run(8, "▁▁▁")],
    normalizer: { type: "Replace", pattern: { String: " " }, content: "▁" },
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: "Replace", pattern: { String: "▁" }, content: " " },
    model: {
      type: "BPE",
      unk_token: "<unk>",
      fuse_unk: true,
      byte_fallback: false,
      vocab: { "<unk>": 0, "</s>": 1, "▁": 2, a: 3, b: 4, ab: 5, "▁a": 6, "▁▁": 7, "▁▁▁": 8 },
      merges: [
        ["a", "b"],
        ["▁", "a"],
      ],
    },
  });
  check(tokenizer, [
    ["a  b", [3, 7, 4]],
    ["a▁▁b", [3, 7, 4]],
    ["  ab", [7, 5]],
    ["a   b", [3, 8, 4]],
    ["a▁▁▁▁▁b", [3, 8, 7, 4]],
    ["a ▁b", [3, 7, 4]],
  ]);
});
