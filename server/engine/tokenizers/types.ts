/** A tokenizer as a policy needs it. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { ChatMessage, ChatOptions, Tokenizer } from "../../core/policy.ts";

/** What the engine, the formats and the command line ask of a tokenizer, in addition to encoding and decoding. */
export interface PolicyTokenizer extends Tokenizer {
  /** `characters`, or where the tokenizer came from. */
  readonly name: string;
  /** The beginning-of-sequence token; where the vocabulary has none, the end-of-sequence token. */
  readonly bos: number;
  /** What plain text begins with, where the model was trained so (Llama 3, Gemma): nothing, or `bos`. */
  readonly prefix: readonly number[];
  /** Ids that `decode` skips. */
  readonly special: ReadonlySet<number>;
  /** Every id that ends a turn, `eos` first. */
  readonly eosAll: readonly number[];
  readonly hasChat: boolean;
  /**
   * A conversation by the model's own template, the beginning of sequence included where the template writes it: encode
   * it without `prefix`. undefined where there is no template.
   *
   * @throws UserError where the template refuses the messages.
   */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): string | undefined;
  /** The files of a Hugging Face folder that transformers reads this tokenizer from, by name. */
  files(): Readonly<Record<string, JsonObject>>;
}
