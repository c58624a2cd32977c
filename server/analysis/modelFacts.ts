/**
 * What a config's models are, read as a run reads them but for the weights: config.json, tokenizer, headers. Remembered
 * until a file changes, since an editor asks after every key.
 */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readFailure, UserError } from "../../shared/lib/errors.ts";
import type { MemoryLook, ModelFacts, ModelLook, PromptLengths } from "../core/config/modelFacts.ts";
import type { TaskConfig } from "../core/config/resolved.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { datasetLook, lengthsWithin, promptCounts, type DatasetTask } from "./datasetFacts.ts";
import { regularFile } from "../lib/inputFile.ts";
import { admitMemory, nearLimit } from "./memory/estimate.ts";
import { adapterBase, examineBase, openBase } from "../engine/formats/index.ts";
import type { PolicyTokenizer } from "../engine/tokenizers/types.ts";
import { probeTemplate } from "../engine/tokenizers/templateProbe.ts";
import { readTokenizer } from "../engine/tokenizers/index.ts";

/** Models that are remembered; a config names a few. */
const MOST = 64;

const stampOfFile = (path: string): string => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "-" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
};
/** Folders of models have some tens of files; one that is no model's may have any number. */
const MOST_FILES = 1000;

/** Changes with every file that a look at the model reads. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return stampOfFile(path);
  const names = readdirSync(path).sort();
  const read = names.filter((name) => /\.(json|jinja|safetensors|gguf)$/.test(name)).slice(0, MOST_FILES);
  return [
    stampOfFile(path),
    ...read.map((name) => `${name} ${stampOfFile(join(path, name))}`),
    ...(names.includes("policy") ? [stampOf(join(path, "policy"))] : []),
  ].join("\n");
}

const sentence = (error: UserError): string => {
  const { action } = error.detail;
  return action === undefined ? error.message : `${error.message} ${action}`;
};

/** @throws what is no problem of the files themselves */
function problemOf(error: unknown, path: string): string {
  if (error instanceof UserError) return sentence(error);
  if (error instanceof Error && "code" in error)
    return `${path} cannot be read: ${readFailure(error)}. Check the path and the permissions of its files.`;
  throw error;
}

interface CachedModel {
  readonly paths: readonly string[];
  readonly stamp: string;
  readonly look: ModelLook;
  /** A large one is read once for what is asked of it at a time, and not kept. */
  readonly tokenizer?: WeakRef<PolicyTokenizer> | undefined;
  /** By what was asked. */
  readonly lengths: Map<string, number>;
}
const known = new Map<string, CachedModel>();

const stampsOf = (paths: readonly string[]): string => paths.map(stampOf).join("\n\n");

function knownOf(base: string): CachedModel {
  const before = known.get(base);
  if (before !== undefined && stampsOf(before.paths) === before.stamp) return before;
  const found = { ...examined(base), lengths: new Map<string, number>() };
  if (known.size >= MOST) known.clear();
  known.set(base, found);
  return found;
}

/** The stamp is from before the look: what changes meanwhile is looked at once more. */
function examined(base: string): Omit<CachedModel, "lengths"> {
  const stamp = stampsOf([base]);
  try {
    const head = examineBase(base);
    const below = adapterBase(head);
    const context = head.shape.context;
    const look: ModelLook = { kind: "fit", context, chat: probeTemplate(head.tokenizer) };
    const tokenizer = new WeakRef(head.tokenizer);
    if (below === undefined) return { paths: [base], stamp, look, tokenizer };
    const paths = [base, below.path];
    return { paths, stamp: stampsOf(paths), look, tokenizer };
  } catch (error) {
    const look: ModelLook = { kind: "unfit", problem: problemOf(error, base) };
    // What is wrong may lie in an adapter's base model: it is looked at every time.
    const elsewhere = error instanceof UserError && !isWithin(error.detail.file, base);
    return { paths: [base], stamp: elsewhere ? "" : stamp, look };
  }
}
const isWithin = (file: string | undefined, base: string): boolean =>
  file === base || (file !== undefined && [dirname(file), dirname(dirname(file))].includes(base));

function longestPrompt(base: string, prompts: readonly string[]): number {
  const { lengths, tokenizer: kept } = knownOf(base);
  const key = prompts.join("\0");
  const known = lengths.get(key);
  if (known !== undefined) return known;
  const tokenizer = kept?.deref() ?? openBase(base).tokenizer;
  const counts = prompts.map((prompt) => tokenizer.prefix.length + tokenizer.encode(prompt).length);
  const longest = Math.max(0, ...counts);
  lengths.set(key, longest);
  return longest;
}

const vocabularies = new Map<string, { readonly stamp: string; readonly problem: string | undefined }>();

function vocabularyProblem(file: string): string | undefined {
  const stamp = stampOf(file);
  const before = vocabularies.get(file);
  if (before?.stamp === stamp) return before.problem;
  const problem = foundVocabularyProblem(file);
  if (vocabularies.size >= MOST) vocabularies.clear();
  vocabularies.set(file, { stamp, problem });
  return problem;
}
function foundVocabularyProblem(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined)
    return `There is no ${basename(file)}. Name a text file, a folder with a tokenizer.json, or \`tasks\`.`;
  try {
    if (stats.isDirectory()) readTokenizer(file);
    else regularFile(file);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error instanceof UserError
      ? sentence(error)
      : `${file} cannot be read: ${readFailure(error)}. Name a text file, a folder with a tokenizer.json, or \`tasks\`.`;
  }
}

function memory(config: RunConfig): MemoryLook | undefined {
  try {
    const problem = nearLimit(config, admitMemory(config));
    return problem === undefined ? { kind: "fits" } : { kind: "near", problem };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.detail.code === "memory" ? { kind: "over", problem: sentence(error) } : undefined;
  }
}

/** Who counts the tokens of prompts, as a message can carry it. */
export type TokenReader =
  | { readonly kind: "characters" }
  /** `stamp` changes with the model's files. */
  | { readonly kind: "tokenizer"; readonly base: string; readonly stamp: string };

/** A tiny model reads a character as a token, unless it learns a vocabulary. undefined: no model is there to count. */
export function tokenReader({ model: { base, tokenizer } }: RunConfig): TokenReader | undefined {
  if (base === "tiny") return tokenizer?.use !== "bpe" ? { kind: "characters" } : undefined;
  if (statSync(base, { throwIfNoEntry: false }) === undefined) return undefined;
  return { kind: "tokenizer", base, stamp: stampOf(base) };
}

/** Of each prompt of a task, as `promptCounts`; undefined also where the model cannot be read. */
export function countTokens(reader: TokenReader, task: DatasetTask): Uint32Array | undefined {
  if (reader.kind === "characters") return promptCounts(task, reader.kind, (prompt) => [...prompt].length);
  const { base, stamp } = reader;
  if (knownOf(base).look.kind === "unfit") return undefined;
  const tokenizer = knownOf(base).tokenizer?.deref() ?? openBase(base).tokenizer;
  return promptCounts(
    task,
    `${base} ${stamp}`,
    (prompt) => tokenizer.prefix.length + tokenizer.encode(prompt).length,
  );
}

function lengthsOf(config: RunConfig, task: TaskConfig): PromptLengths | undefined {
  const { max_prompt: limit } = task.source.params;
  const reader = typeof limit === "number" ? tokenReader(config) : undefined;
  const counts = reader && countTokens(reader, task);
  return counts && typeof limit === "number" ? lengthsWithin(counts, limit) : undefined;
}

export const modelFacts: ModelFacts = {
  prompts: datasetLook,
  promptLengths: lengthsOf,
  look: (base) => knownOf(base).look,
  longestPrompt,
  vocabularyProblem,
  memory,
};
