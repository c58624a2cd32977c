/** A tokenizer from tokenizer.json, with the ids and the texts that transformers gives. */
import type { Tokenizer as Pipeline } from "@huggingface/tokenizers";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { ChatMessage, ChatOptions } from "../../core/policy.ts";
import { ChatTemplate } from "./chatTemplate.ts";
import type { PolicyTokenizer } from "./types.ts";
import { alike } from "./alike.ts";

/** The JSON files that make a tokenizer, as a Hugging Face folder holds them. */
export interface TokenizerParts {
  readonly tokenizer: JsonObject;
  readonly config: JsonObject;
  /** generation_config.json: its `eos_token_id` may list several ends of turn. */
  readonly generation?: JsonObject;
  /** chat_template.jinja; it goes before the config's own. */
  readonly template?: string;
  readonly name: string;
  /** Named in errors. */
  readonly file: string;
}

const addedSchema = z.object({ id: z.int(), content: z.string(), special: z.boolean().default(false) });
const tokenizerSchema = z.looseObject({
  added_tokens: z.array(addedSchema).default([]),
  model: z.looseObject({ type: z.string().optional(), vocab: z.unknown() }),
});
/** A token's name is written as text or as `{ content }`. */
const tokenSchema = z.union([
  z.string(),
  z.looseObject({ content: z.string() }).transform(({ content }) => content),
]);
const namedSchema = z.array(z.looseObject({ name: z.string(), template: z.string() }));

/** Ends of a turn by the names that published models give them; only where they are special tokens. */
const TURN_ENDS = new Set([
  "<|im_end|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<|end_of_text|>",
  "<|endoftext|>",
  "<end_of_turn>",
  "<|end|>",
  "<|eot|>",
  "</s>",
  "<eos>",
]);
const ROLES = ["bos_token", "eos_token", "pad_token", "unk_token"] as const;

export class HuggingFaceTokenizer implements PolicyTokenizer {
  readonly name: string;
  readonly size: number;
  readonly eos: number;
  readonly bos: number;
  readonly pad: number;
  readonly prefix: readonly number[];
  readonly special: ReadonlySet<number>;
  readonly eosAll: readonly number[];
  private readonly pipeline: Pipeline;
  private readonly template: ChatTemplate | undefined;

  /** @throws UserError naming the file and what in it is not understood. */
  constructor(private readonly parts: TokenizerParts) {
    this.name = parts.name;
    const { added, roles } = this.read();
    this.pipeline = this.build();
    const id = (token: string | undefined): number | undefined =>
      token === undefined ? undefined : this.pipeline.token_to_id(token);
    this.special = new Set(added.filter(({ special }) => special).map((token) => token.id));
    const ends = [
      id(roles["eos_token"]),
      ...endsOf(parts.generation),
      ...added.filter(({ special, content }) => special && TURN_ENDS.has(content)).map((token) => token.id),
    ];
    this.eosAll = [...new Set(ends.filter((end) => end !== undefined))];
    const [eos] = this.eosAll;
    if (eos === undefined)
      throw this.wrong(
        "it does not name an end-of-sequence token (eos_token)",
        "Add eos_token to tokenizer_config.json.",
      );
    this.eos = eos;
    this.bos = id(roles["bos_token"]) ?? idIn(parts.generation, "bos_token_id") ?? eos;
    this.pad = id(roles["pad_token"]) ?? idIn(parts.generation, "pad_token_id") ?? eos;
    // Vocabularies have more ids than a call may have arguments.
    let last = 0;
    for (const token of this.pipeline.get_vocab().values()) last = Math.max(last, token);
    this.size = 1 + last;
    this.prefix = this.pipeline
      .encode("")
      .ids.filter((token) => token === this.bos)
      .slice(0, 1);
    const source = parts.template ?? templateOf(parts.config);
    this.template = source === undefined ? undefined : new ChatTemplate(source, roles, parts.file);
  }

  private wrong(problem: string, action: string, cause?: unknown): UserError {
    const { file } = this.parts;
    return new UserError(`${file} is not a tokenizer that this engine reads: ${problem}.`, {
      file,
      code: "tokenizer-file",
      action,
      cause,
    });
  }
  private read(): { added: z.output<typeof addedSchema>[]; roles: Record<string, string> } {
    const parsed = tokenizerSchema.safeParse(this.parts.tokenizer);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw this.wrong(
        `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "malformed"}`,
        "Name a folder with a complete tokenizer.json.",
      );
    }
    const roles: Record<string, string> = {};
    for (const role of ROLES) {
      const token = tokenSchema.safeParse(this.parts.config[role]);
      if (token.success) roles[role] = token.data;
    }
    return { added: parsed.data.added_tokens, roles };
  }
  private build(): Pipeline {
    try {
      return alike(this.parts.tokenizer, this.parts.config);
    } catch (error) {
      throw this.wrong(
        messageOf(error),
        "Use a model whose tokenizer.json is byte-pair, unigram or word-piece.",
        error,
      );
    }
  }

  get hasChat(): boolean {
    return this.template !== undefined;
  }
  chat(messages: readonly ChatMessage[], options?: ChatOptions): string | undefined {
    return this.template?.render(messages, options);
  }

  encode(text: string): Int32Array {
    return text === ""
      ? new Int32Array(0)
      : Int32Array.from(this.pipeline.encode(text, { add_special_tokens: false }).ids);
  }
  /** Special tokens have no text. */
  decode(tokens: ArrayLike<number>): string {
    const kept = Array.from(tokens).filter(
      (token) => !this.special.has(token) && token >= 0 && token < this.size,
    );
    return kept.length === 0 ? "" : this.pipeline.decode(kept, { clean_up_tokenization_spaces: false });
  }

  files(): Readonly<Record<string, JsonObject>> {
    const { tokenizer, config, generation } = this.parts;
    const template = this.template?.source;
    return {
      "tokenizer.json": tokenizer,
      "tokenizer_config.json": {
        ...config,
        clean_up_tokenization_spaces: false,
        ...(template === undefined ? {} : { chat_template: template }),
      },
      "generation_config.json": {
        ...generation,
        bos_token_id: this.bos,
        eos_token_id: this.eosAll.length === 1 ? this.eos : this.eosAll,
        pad_token_id: this.pad,
      },
    };
  }
}

function idIn(generation: JsonObject | undefined, key: string): number | undefined {
  const found = generation?.[key];
  return typeof found === "number" ? found : undefined;
}
function endsOf(generation: JsonObject | undefined): number[] {
  const ids = z
    .union([z.int().transform((id) => [id]), z.array(z.int())])
    .safeParse(generation?.["eos_token_id"]);
  return ids.success ? ids.data : [];
}

/** The template of that name, or `default`, where a config lists several. */
function templateOf(config: JsonObject): string | undefined {
  const given = config["chat_template"];
  if (typeof given === "string") return given;
  const named = namedSchema.safeParse(given);
  if (!named.success) return undefined;
  return (named.data.find(({ name }) => name === "default") ?? named.data[0])?.template;
}
