/**
 * Hugging Face's JavaScript pipeline, made to agree with the Rust one that transformers uses where the two differ:
 * white space in the GPT-2 pattern (JavaScript's `\s` has U+FEFF and lacks U+0085), numerals beyond 0 … 9, Chinese
 * characters beyond the first plane, and bytes that make no character.
 */
import { ByteFallbackDecoder, SequenceDecoder, Tokenizer } from "@huggingface/tokenizers";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

/** How GPT-2 cuts text before bytes are paired. */
export const GPT2_PATTERN = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

const NUMERAL = String.raw`\p{N}`;

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);

/** A step that cuts by `pattern` and keeps every piece. */
export const splitBy = (pattern: string): JsonObject => ({
  type: "Split",
  pattern: { Regex: pattern },
  behavior: "Isolated",
  invert: false,
});

/** Puts a space before a text that begins with none. */
const prefixSpace: JsonObject = {
  type: "Replace",
  pattern: { Regex: String.raw`(?<![\s\S])(?! )(?=[\s\S])` },
  content: " ",
};

/** Steps with a pattern inside, as steps that cut by one, whose classes are Unicode's. */
function withPattern(step: Json | undefined): Json | undefined {
  if (!isObject(step)) return step;
  if (step["type"] === "Digits") return splitBy(step["individual_digits"] === true ? NUMERAL : `${NUMERAL}+`);
  if (step["type"] === "Sequence" && Array.isArray(step["pretokenizers"]))
    return { ...step, pretokenizers: step["pretokenizers"].map((inner: Json) => withPattern(inner) ?? null) };
  if (step["type"] !== "ByteLevel" || step["use_regex"] === false) return step;
  const bytes = { ...step, use_regex: false, add_prefix_space: false };
  const prefix = step["add_prefix_space"] === true ? [prefixSpace] : [];
  return { type: "Sequence", pretokenizers: [...prefix, splitBy(GPT2_PATTERN), bytes] };
}

/** Chinese characters beyond the first plane, as Rust's BertNormalizer has them; the JavaScript one looks at UTF-16 units. */
const farChinese: JsonObject = {
  type: "Replace",
  pattern: {
    Regex: String.raw`([\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}])`,
  },
  content: " $1 ",
};

function withChinese(normalizer: Json | undefined): Json | undefined {
  if (!isObject(normalizer)) return normalizer;
  const { normalizers } = normalizer;
  if (normalizer["type"] === "Sequence" && Array.isArray(normalizers))
    return { ...normalizer, normalizers: normalizers.map((inner: Json) => withChinese(inner) ?? null) };
  const cuts = normalizer["type"] === "BertNormalizer" && normalizer["handle_chinese_chars"] !== false;
  return cuts ? { type: "Sequence", normalizers: [farChinese, normalizer] } : normalizer;
}

/** Text of raw bytes; where they are no UTF-8, one U+FFFD for each. */
function textOfBytes(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return text.includes("\ufffd") && !isReplacement(bytes) ? "\ufffd".repeat(bytes.length) : text;
}
/** Whether the bytes are valid and say U+FFFD themselves. */
function isReplacement(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

class BytesDecoder extends TextDecoder {
  override decode(bytes?: AllowSharedBufferSource): string {
    return bytes instanceof Uint8Array ? textOfBytes(bytes) : "";
  }
}

/** @throws Error where a step of the pipeline is not known. */
export function alike(tokenizer: JsonObject, config: JsonObject): Tokenizer {
  const built = new Tokenizer(
    {
      added_tokens: [],
      ...tokenizer,
      normalizer: withChinese(tokenizer["normalizer"]) ?? null,
      pre_tokenizer: withPattern(tokenizer["pre_tokenizer"]) ?? null,
    },
    { ...config, clean_up_tokenization_spaces: false },
  );
  const { decoder } = built;
  const steps = decoder instanceof SequenceDecoder ? decoder.decoders : [decoder];
  for (const step of steps) if (step instanceof ByteFallbackDecoder) step.text_decoder = new BytesDecoder();
  return built;
}
