/** The tokenizer that a GGUF header describes, as the files of a Hugging Face folder. */
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { HuggingFaceTokenizer, type TokenizerParts } from "../../tokenizers/huggingFace.ts";
import { preTokenizerByName, preTokenizers } from "../../tokenizers/preTokenizers.ts";
import { ggufError, type Header } from "./header.ts";
import { Reading } from "./metadata.ts";

/** `tokenizer.ggml.token_type`. */
export const tokenType = { normal: 1, unknown: 2, control: 3, user_defined: 4, unused: 5, byte: 6 } as const;
/** SentencePiece writes a space so. */
const SPACE = "▁";

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly reading: Reading;
}

/** @throws UserError where the header has no tokenizer, or one of a kind that is not known. */
export function tokenizerOf(header: Header): HuggingFaceTokenizer {
  const reading = new Reading(header);
  const tokens = reading.texts("tokenizer.ggml.tokens");
  const types = reading.has("tokenizer.ggml.token_type")
    ? reading.numbers("tokenizer.ggml.token_type")
    : tokens.map(() => tokenType.normal);
  const model = reading.text("tokenizer.ggml.model");
  const vocabulary = { tokens, types, reading };
  if (model === "gpt2") return new HuggingFaceTokenizer(byteLevel(header, vocabulary));
  if (model === "llama") return new HuggingFaceTokenizer(sentencePiece(header, vocabulary));
  throw ggufError(
    header.file,
    `its tokenizer is of the kind ${model}`,
    "Use a model with a byte-level (gpt2) or SentencePiece (llama) vocabulary.",
  );
}

function byteLevel(header: Header, { tokens, types, reading }: Vocabulary): TokenizerParts {
  const name = reading.text("tokenizer.ggml.pre", "gpt-2");
  const pre = preTokenizerByName(name);
  if (pre === undefined)
    throw ggufError(
      header.file,
      `its vocabulary splits text in the way ${name}, which this engine does not know`,
      `Use a model with one of ${preTokenizers.flatMap(({ names }) => names).join(", ")}.`,
    );
  // Writers leave an empty list out.
  const single = tokens.every((token, id) => types[id] !== tokenType.normal || token.length === 1);
  const absent = single && !reading.has("tokenizer.ggml.merges");
  const merges = absent ? [] : reading.texts("tokenizer.ggml.merges");
  return assembled(header, { tokens, types, reading }, pre.adds_bos, {
    normalizer: pre.normalizer,
    pre_tokenizer: pre.steps,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { ...bytePairs(tokens, merges), ignore_merges: pre.ignore_merges },
  });
}

const bytePairs = (
  tokens: readonly string[],
  merges: readonly (string | readonly string[])[],
): JsonObject => ({
  type: "BPE",
  dropout: null,
  unk_token: null,
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
  fuse_unk: false,
  byte_fallback: false,
  vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
  merges,
});

function sentencePiece(header: Header, { tokens, types, reading }: Vocabulary): TokenizerParts {
  // Gemma's files write runs of spaces as they are; its scores do not follow the order of merging, its ids do.
  const gemma = reading.text("general.architecture", "").startsWith("gemma");
  const spelled = gemma
    ? tokens.map((token) => (/^ {2,}$/.test(token) ? SPACE.repeat(token.length) : token))
    : tokens;
  const merges = reading.has("tokenizer.ggml.merges")
    ? reading.texts("tokenizer.ggml.merges")
    : impliedMerges(
        spelled,
        types,
        gemma ? spelled.map((_, id) => -id) : reading.numbers("tokenizer.ggml.scores"),
      );
  const prefixed = reading.flag("tokenizer.ggml.add_space_prefix", !gemma);
  const spaces: JsonObject = { type: "Replace", pattern: { String: " " }, content: SPACE };
  const unknown = types.indexOf(tokenType.unknown);
  return assembled(header, { tokens: spelled, types, reading }, true, {
    normalizer: prefixed
      ? { type: "Sequence", normalizers: [{ type: "Prepend", prepend: SPACE }, spaces] }
      : spaces,
    pre_tokenizer: null,
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: SPACE }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        ...(prefixed ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      ...bytePairs(spelled, merges),
      unk_token: spelled[unknown] ?? null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
    },
  });
}

/** SentencePiece joins the neighbours whose whole has the best score: every way to cut a token in two, best whole first. */
function impliedMerges(
  tokens: readonly string[],
  types: readonly number[],
  scores: readonly number[],
): [string, string][] {
  const ids = new Map<string, number>();
  tokens.forEach((token, id) => {
    if (types[id] === tokenType.normal || types[id] === tokenType.user_defined) ids.set(token, id);
  });
  const merges: { readonly pair: [string, string]; readonly score: number }[] = [];
  for (const [token, id] of ids) {
    const characters = Array.from(token);
    const cuts: { readonly pair: [string, string]; readonly left: number; readonly right: number }[] = [];
    for (let cut = 1; cut < characters.length; cut++) {
      const pair: [string, string] = [characters.slice(0, cut).join(""), characters.slice(cut).join("")];
      const [left, right] = [ids.get(pair[0]), ids.get(pair[1])];
      if (left !== undefined && right !== undefined) cuts.push({ pair, left, right });
    }
    cuts.sort((a, b) => a.left - b.left || a.right - b.right);
    merges.push(...cuts.map(({ pair }) => ({ pair, score: scores[id] ?? 0 })));
  }
  return merges.sort((a, b) => b.score - a.score).map(({ pair }) => pair);
}

/** What both kinds have: special tokens, ends of a turn, the template. */
function assembled(
  header: Header,
  { tokens, types, reading }: Vocabulary,
  addsBos: boolean,
  steps: JsonObject,
): TokenizerParts {
  const token = (key: string): [number, string] | undefined => {
    const id = reading.maybeNumber(`tokenizer.ggml.${key}_token_id`);
    const text = id === undefined ? undefined : tokens[id];
    return id === undefined || text === undefined ? undefined : [id, text];
  };
  const bos = token("bos");
  const begins = bos !== undefined && reading.flag("tokenizer.ggml.add_bos_token", addsBos);
  const named = Object.entries({
    bos_token: "bos",
    eos_token: "eos",
    pad_token: "padding",
    unk_token: "unknown",
  });
  const ends = ["eos", "eot", "eom"].flatMap((key) => token(key)?.[0] ?? []);
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added(tokens, types),
      post_processor: begins ? beginningWith(bos) : null,
      ...steps,
    },
    config: {
      tokenizer_class: "PreTrainedTokenizerFast",
      clean_up_tokenization_spaces: false,
      add_bos_token: begins,
      ...Object.fromEntries(
        named.flatMap(([role, key]) => (token(key)?.[1] === undefined ? [] : [[role, token(key)![1]]])),
      ),
    },
    generation: { eos_token_id: ends },
    ...(reading.has("tokenizer.chat_template") ? { template: reading.text("tokenizer.chat_template") } : {}),
    name: header.file,
    file: header.file,
  };
}

const added = (tokens: readonly string[], types: readonly number[]): JsonObject[] =>
  tokens.flatMap((content, id) => {
    const special = types[id] === tokenType.control || types[id] === tokenType.unknown;
    if (!special && types[id] !== tokenType.user_defined) return [];
    // Runs of spaces are pieces of text, whatever a file calls them.
    if (new RegExp(`^${SPACE}+$`).test(content)) return [];
    return [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special }];
  });

const beginningWith = ([id, content]: readonly [number, string]): JsonObject => ({
  type: "TemplateProcessing",
  single: [{ SpecialToken: { id: content, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
  pair: [
    { SpecialToken: { id: content, type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
    { Sequence: { id: "B", type_id: 1 } },
  ],
  special_tokens: { [content]: { id: content, ids: [id], tokens: [content] } },
});
