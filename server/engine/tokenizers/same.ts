/** Whether two tokenizers mean the same by the same ids: asked by whoever scores, compares or loads what the other wrote. */
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Tokenizer } from "../../core/policy.ts";

interface Filed extends Tokenizer {
  files?(): Readonly<Record<string, JsonObject>>;
}

/** Tokenizers of different families cut it differently: words, digits, brackets. Each knows these characters. */
const probe = "The quick brown fox jumps over 13 lazy dogs: 7*(4+2)=42.";
/** So many ids, spread over the vocabulary, are turned into text and compared. */
const LOOKED_AT = 512;

const fileOf = (tokenizer: Filed): JsonObject | undefined => tokenizer.files?.()["tokenizer.json"];

/** The first id of those looked at that the two write differently. */
function differentId(a: Tokenizer, b: Tokenizer): number | undefined {
  const step = Math.max(1, Math.floor(a.size / LOOKED_AT));
  for (let id = 0; id < a.size; id += step) if (a.decode([id]) !== b.decode([id])) return id;
  return undefined;
}

/**
 * In what two tokenizers differ, as the rest of a sentence; undefined: texts in one's ids are texts in the other's.
 * Equal files are equal; else (a GGUF file next to a Hugging Face folder of one model) they are asked: the end of a text,
 * the ids of a probe, the texts of ids all over the vocabulary.
 */
export function tokenDifference(a: Tokenizer, b: Tokenizer): string | undefined {
  const known = compared.get(a) ?? new WeakMap<Tokenizer, { readonly difference: string | undefined }>();
  const found = known.get(b) ?? { difference: foundDifference(a, b) };
  compared.set(a, known.set(b, found));
  return found.difference;
}
/** Tokenizers do not change, and every step of a run may ask. */
const compared = new WeakMap<Tokenizer, WeakMap<Tokenizer, { readonly difference: string | undefined }>>();

function foundDifference(a: Filed, b: Filed): string | undefined {
  if (a === b) return undefined;
  const [own, other] = [fileOf(a), fileOf(b)];
  if (own !== undefined && isDeepStrictEqual(own, other)) return undefined;
  if (a.size !== b.size) return `they have ${a.size} and ${b.size} tokens`;
  if (a.eos !== b.eos) return `their texts end with the tokens ${a.eos} and ${b.eos}`;
  if (a.encode(probe).join() !== b.encode(probe).join())
    return "they split the same text into different tokens";
  const id = differentId(a, b);
  return id === undefined
    ? undefined
    : `token ${id} is ${JSON.stringify(a.decode([id]))} to one and ${JSON.stringify(b.decode([id]))} to the other`;
}

export const sameTokens = (a: Tokenizer, b: Tokenizer): boolean => tokenDifference(a, b) === undefined;

/** One of the two, as a message names it: `the model judge`. */
interface NamedTokenizer {
  readonly name: string;
  readonly tokenizer: Tokenizer;
}

/**
 * @param wish what the reader was to do, what a person can do about it, and the error's code
 * @throws UserError where the tokenizers differ
 */
export function checkSameTokens(
  a: NamedTokenizer,
  b: NamedTokenizer,
  wish: { readonly code: string; readonly so: string; readonly action: string; readonly file?: string },
): void {
  const difference = tokenDifference(a.tokenizer, b.tokenizer);
  if (difference === undefined) return;
  const { code, so, action, file } = wish;
  throw new UserError(`${a.name} and ${b.name} have different tokenizers (${difference}), so ${so}.`, {
    code,
    action,
    ...(file === undefined ? {} : { file }),
  });
}

/** @throws UserError where a checkpoint's weights mean other tokens than the policy that is to take them up */
export const checkStoredTokens = (folder: string, stored: Tokenizer, own: Tokenizer): void =>
  checkSameTokens(
    { name: `The checkpoint ${folder}`, tokenizer: stored },
    { name: "the policy", tokenizer: own },
    {
      code: "checkpoint-tokenizer",
      so: "its weights belong to other tokens",
      action:
        "Restore the texts or the tokenizer that the run began with, or start a new run from this checkpoint.",
      file: folder,
    },
  );
