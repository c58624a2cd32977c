/** Text ↔ token ids: what a policy's tokenizer is, and opening one from a folder. */
import type { PolicyTokenizer } from "./types.ts";
import { existsSync, writeFileSync } from "node:fs";
import { limits, readText } from "../../lib/inputFile.ts";
import { join } from "node:path";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import { CharacterTokenizer } from "./characters.ts";
import { HuggingFaceTokenizer } from "./huggingFace.ts";

export { HuggingFaceTokenizer, type TokenizerParts } from "./huggingFace.ts";
export { checkSameTokens, checkStoredTokens, sameTokens, tokenDifference } from "./same.ts";
export { TextStream } from "./textStream.ts";
export type { ChatMessage, ChatOptions } from "../../core/policy.ts";

function tokenizerByName(name: string, file: string): PolicyTokenizer {
  if (name === "characters") return new CharacterTokenizer();
  throw new UserError(`The tokenizer ${name} of this checkpoint is not known.`, {
    file,
    code: "tokenizer-unknown",
    action: "Use a checkpoint written by this version of gradus.",
  });
}

const isObject = (json: Json): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);
/** A JSON object from a file. @throws UserError naming the file where it is missing or is none */
function readJsonObject(file: string): JsonObject {
  const unread = (reason: string, cause?: unknown): UserError =>
    new UserError(`${file} cannot be read: ${reason}.`, {
      file,
      code: "tokenizer-file",
      action:
        "Name a folder with a complete tokenizer.json (a tokenizer.model or vocab.txt alone is not enough).",
      cause,
    });
  let json: Json;
  try {
    json = JSON.parse(readText(file, limits.tokenizer));
  } catch (error) {
    throw unread(readFailure(error), error);
  }
  if (!isObject(json)) throw unread("it is not a JSON object");
  return json;
}
const optional = (file: string): JsonObject => (existsSync(file) ? readJsonObject(file) : {});

/** Marks our own tokenizers in tokenizer_config.json; earlier checkpoints have it in tokenizer.json. */
const marker = (json: JsonObject): Json | undefined => json["gradus"];

/**
 * The tokenizer of a Hugging Face folder or of a checkpoint: tokenizer.json with tokenizer_config.json,
 * special_tokens_map.json, generation_config.json or config.json (ends of turn) and chat_template.jinja where they are
 * there.
 *
 * @throws UserError naming the file and what it lacks.
 */
export function readTokenizer(folder: string): PolicyTokenizer {
  const file = join(folder, "tokenizer.json");
  const tokenizer = readJsonObject(file);
  const config = optional(join(folder, "tokenizer_config.json"));
  const own = marker(tokenizer) ?? marker(config);
  if (typeof own === "string") return tokenizerByName(own, file);
  const template = join(folder, "chat_template.jinja");
  const named = optional(join(folder, "special_tokens_map.json"));
  return new HuggingFaceTokenizer({
    tokenizer,
    config: { ...named, ...withoutNulls(config) },
    generation: {
      ...idsOf(optional(join(folder, "config.json"))),
      ...optional(join(folder, "generation_config.json")),
    },
    ...(existsSync(template) ? { template: readText(template, limits.modelJson) } : {}),
    name: folder,
    file,
  });
}

const withoutNulls = (json: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
/** A model's own config names its special tokens by id, too. */
const idsOf = (config: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(config).filter(([key, value]) => /^(bos|eos|pad)_token_id$/.test(key) && value !== null),
  );

/** Writes the tokenizer's files into a folder that exists. */
export function writeTokenizer(folder: string, tokenizer: PolicyTokenizer): void {
  for (const [name, json] of Object.entries(tokenizer.files()))
    writeFileSync(join(folder, name), `${JSON.stringify(json, null, 2)}\n`, { flush: true });
}
