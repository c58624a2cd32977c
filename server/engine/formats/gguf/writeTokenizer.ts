/** A tokenizer as GGUF metadata: byte-level vocabularies whose way to cut text has a name there, and SentencePiece's. */
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { PolicyTokenizer } from "../../tokenizers/types.ts";
import { preTokenizerName } from "../../tokenizers/preTokenizers.ts";
import type { Typed } from "./file.ts";
import { tokenType } from "./tokenizer.ts";

const mergeSchema = z.union([
  z.string(),
  z.tuple([z.string(), z.string()]).transform((pair) => pair.join(" ")),
]);
const schema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean() })),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  model: z.looseObject({
    type: z.literal("BPE"),
    vocab: z.record(z.string(), z.int()),
    merges: z.array(mergeSchema),
    byte_fallback: z.boolean().default(false),
    unk_token: z.string().nullish(),
  }),
});
type Json = z.output<typeof schema>;

const refused = (name: string, reason: string): UserError =>
  new UserError(`The tokenizer ${name} cannot be written as GGUF: ${reason}.`, {
    file: name,
    code: "gguf-tokenizer",
    action: "Export to a Hugging Face folder instead (--to hf), which takes any tokenizer.",
  });

/**
 * @param size - rows of the embedding; ids without a token are written as unused
 * @throws UserError for a kind of tokenizer that GGUF has no name for.
 */
export function tokenizerMetadata(tokenizer: PolicyTokenizer, size: number): Map<string, Typed> {
  const files = tokenizer.files();
  const parsed = schema.safeParse(files["tokenizer.json"]);
  if (!parsed.success) throw refused(tokenizer.name, "only byte-pair vocabularies have a form there");
  const json = parsed.data;
  const metadata = new Map<string, Typed>();
  const set = (key: string, typed: Typed): void => void metadata.set(`tokenizer.ggml.${key}`, typed);
  const tokens = tokensOf(json, size);
  if (json.model.byte_fallback) {
    set("model", { type: "text", value: "llama" });
    set("pre", { type: "text", value: "default" });
    set("add_space_prefix", { type: "bool", value: prepends(json.normalizer) });
    set("scores", { type: "f32s", value: scoresOf(json, tokens) });
  } else {
    const pre = preTokenizerName(json.pre_tokenizer);
    if (pre === undefined) throw refused(tokenizer.name, "its pre_tokenizer has no name there");
    set("model", { type: "text", value: "gpt2" });
    set("pre", { type: "text", value: pre });
  }
  set("tokens", { type: "texts", value: tokens });
  set("token_type", { type: "i32s", value: typesOf(json, tokens) });
  set("merges", { type: "texts", value: json.model.merges });
  set("bos_token_id", { type: "u32", value: tokenizer.bos });
  set("eos_token_id", { type: "u32", value: tokenizer.eos });
  set("padding_token_id", { type: "u32", value: tokenizer.pad });
  if (json.model.unk_token != null)
    set("unknown_token_id", { type: "u32", value: json.model.vocab[json.model.unk_token] ?? 0 });
  set("add_bos_token", { type: "bool", value: tokenizer.prefix.length > 0 });
  const template = templateOf(files["tokenizer_config.json"]);
  if (template !== undefined) metadata.set("tokenizer.chat_template", { type: "text", value: template });
  return metadata;
}

const templateOf = (config: JsonObject | undefined): string | undefined =>
  typeof config?.["chat_template"] === "string" ? config["chat_template"] : undefined;

function tokensOf({ model, added_tokens }: Json, size: number): string[] {
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  for (const [token, id] of Object.entries(model.vocab)) tokens[id] = token;
  for (const { id, content } of added_tokens) tokens[id] = content;
  return tokens;
}

function typesOf({ model, added_tokens }: Json, tokens: readonly string[]): number[] {
  const types = tokens.map((token): number => {
    if (model.byte_fallback && /^<0x[0-9A-F]{2}>$/.test(token)) return tokenType.byte;
    return token in model.vocab ? tokenType.normal : tokenType.unused;
  });
  for (const { id, special } of added_tokens)
    types[id] = special ? tokenType.control : tokenType.user_defined;
  const unknown = model.unk_token == null ? undefined : model.vocab[model.unk_token];
  if (unknown !== undefined) types[unknown] = tokenType.unknown;
  return types;
}

/** What SentencePiece would prefer: a token made by an earlier merge scores higher. */
function scoresOf({ model }: Json, tokens: readonly string[]): number[] {
  const ranks = new Map<string, number>();
  model.merges.forEach((merge, rank) => {
    const whole = merge.replace(" ", "");
    if (!ranks.has(whole)) ranks.set(whole, rank);
  });
  return tokens.map((token, id) => -(ranks.get(token) ?? model.merges.length + id));
}

const prepends = (normalizer: unknown): boolean => JSON.stringify(normalizer ?? null).includes('"Prepend"');
