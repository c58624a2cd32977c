/** How byte-level vocabularies cut text, by the names that GGUF files give (`tokenizer.ggml.pre`). */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { splitBy } from "./alike.ts";

interface PreTokenizer {
  /** Names in GGUF; the first is written. */
  readonly names: readonly string[];
  readonly steps: JsonObject;
  readonly normalizer: JsonObject | null;
  /** Whole pieces that are in the vocabulary are not merged again. */
  readonly ignore_merges: boolean;
  /** Whether plain text begins with `bos` where the file does not say. */
  readonly adds_bos: boolean;
}

const byteLevel = (use_regex: boolean): JsonObject => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex,
});
const sequence = (...pretokenizers: JsonObject[]): JsonObject => ({ type: "Sequence", pretokenizers });
const byPattern = (pattern: string): JsonObject => sequence(splitBy(pattern), byteLevel(false));

const CONTRACTION = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)`;
const WORD = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`;
const BREAKS = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const SIGNS = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`;
const llama3 = `${CONTRACTION}|${WORD}|\\p{N}{1,3}|${SIGNS}|${BREAKS}`;
const qwen2 = `${CONTRACTION}|${WORD}|\\p{N}|${SIGNS}|${BREAKS}`;
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const CASED = String.raw`[^\r\n\p{L}\p{N}]?`;
const tekken = `${CASED}${UPPER}*${LOWER}+|${CASED}${UPPER}+${LOWER}*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${BREAKS}`;

const plain = { normalizer: null, ignore_merges: false, adds_bos: false } as const;
export const preTokenizers: readonly PreTokenizer[] = [
  { ...plain, names: ["gpt-2", "default", "phi-2", "olmo", "mpt"], steps: byteLevel(true) },
  {
    ...plain,
    names: ["smollm", "starcoder", "refact", "command-r", "codeshell"],
    steps: sequence({ type: "Digits", individual_digits: true }, byteLevel(true)),
  },
  {
    names: ["llama-bpe", "llama3", "llama-v3", "falcon3", "dbrx", "smaug-bpe", "pixtral"],
    steps: byPattern(llama3),
    normalizer: null,
    ignore_merges: true,
    adds_bos: true,
  },
  {
    ...plain,
    names: ["qwen2", "deepseek-r1-qwen", "megrez"],
    steps: byPattern(qwen2),
    normalizer: { type: "NFC" },
  },
  { names: ["tekken"], steps: byPattern(tekken), normalizer: null, ignore_merges: true, adds_bos: true },
];

export const preTokenizerByName = (name: string): PreTokenizer | undefined =>
  preTokenizers.find(({ names }) => names.includes(name));

/** Only what decides how text is cut: the order of keys and the offsets do not. */
function essence(steps: unknown): string {
  return JSON.stringify(steps, (key, value: unknown) =>
    key === "trim_offsets" || key === "add_prefix_space"
      ? undefined
      : typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  );
}
/** The name of a tokenizer.json's `pre_tokenizer`, where GGUF has one. */
export const preTokenizerName = (steps: unknown): string | undefined =>
  preTokenizers.find((known) => essence(known.steps) === essence(steps))?.names[0];
