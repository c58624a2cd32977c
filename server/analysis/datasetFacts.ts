/**
 * What a config's datasets hold, apart from their rows: prompts that are repeated, that are on both sides of the split, or
 * that are too long. A file is read once until it changes; what is kept of a row is a few hashes.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { messageOf, UserError } from "../../shared/lib/errors.ts";
import { datasetOf } from "../core/datasetLines.ts";
import type { DatasetLook, PromptLengths, PromptPlace } from "../core/config/modelFacts.ts";
import type { TaskConfig } from "../core/config/resolved.ts";
import { create } from "../core/create.ts";
import { splitOf, type Split } from "../core/split.ts";
import { randomStream } from "../lib/random.ts";
import { noModels } from "./rescore/noModels.ts";

/** Larger files are not read while a config is checked; in bytes. */
const largest = 64 * 2 ** 20;

interface PromptRow {
  /** Of the prompt without what does not matter. */
  readonly prompt: string;
  readonly answer: string | undefined;
  readonly split: Split;
  readonly row: number;
}

interface CachedRows {
  readonly stamp: string;
  readonly rows: readonly PromptRow[] | undefined;
}
const cache = new Map<string, CachedRows>();
/** Files and templates that are remembered. */
const most = 32;

/** Case, white space and punctuation at the end do not make another prompt; digits and signs do. */
const normalised = (prompt: string): string =>
  prompt
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[.,;:!?"'`]+(?= |$)/g, "")
    .trim();

const hashed = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

const fileOf = ({ source }: TaskConfig): string | undefined => datasetOf(source);

/** The source as the file has it: nothing is left out for its length. */
function listed(task: TaskConfig) {
  const { source } = task;
  const whole = { ...source, params: { ...source.params, max_prompt: undefined } };
  const random = randomStream(0, "dataset-facts");
  return create(whole, { random, models: noModels, max_tokens: 1, group: 1 }, task.name).listed?.() ?? [];
}

interface Source {
  /** The file and the templates that make prompts of it. */
  readonly key: string;
  readonly stamp: string;
}

/** undefined: the task is no dataset, or its file is not there, or too large. */
function sourceOf(task: TaskConfig): Source | undefined {
  const file = fileOf(task);
  const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > largest) return undefined;
  const { prompt, answer, chosen, rejected } = task.source.params;
  const key = JSON.stringify([file, prompt, answer, chosen, rejected]);
  return { key, stamp: `${stats.mtimeMs} ${stats.size}` };
}

/** undefined: a row of it cannot be read, which is reported elsewhere. */
function rowsOf(task: TaskConfig): readonly PromptRow[] | undefined {
  const source = sourceOf(task);
  if (source === undefined) return undefined;
  const known = cache.get(source.key);
  if (known?.stamp === source.stamp) return known.rows;
  const rows = readRows(task);
  if (cache.size >= most) cache.clear();
  cache.set(source.key, { stamp: source.stamp, rows });
  return rows;
}

function readRows(task: TaskConfig): readonly PromptRow[] | undefined {
  try {
    return listed(task).map(({ task: { id, prompt, answer }, row }) => ({
      prompt: hashed(normalised(prompt)),
      answer: answer === undefined ? undefined : hashed(answer.trim()),
      split: splitOf(id),
      row,
    }));
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw new Error(`${fileOf(task) ?? ""}: ${messageOf(error)}`, { cause: error });
  }
}

/** The last one: an editor asks again after every key. */
let last: { readonly sources: string; readonly look: DatasetLook } | undefined;

/** @param tasks all that a config asks, in its order */
export function datasetLook(tasks: readonly TaskConfig[]): DatasetLook {
  const sources = JSON.stringify(tasks.map(sourceOf));
  if (last?.sources !== sources) last = { sources, look: compared(tasks) };
  return last.look;
}

function compared(tasks: readonly TaskConfig[]): DatasetLook {
  const first = new Map<string, PromptRow & { readonly task: number }>();
  const contradictory: [PromptPlace, PromptPlace][] = [];
  const leaked: [PromptPlace, PromptPlace][] = [];
  let [rows, repeated] = [0, 0];
  for (const [task, config] of tasks.entries())
    for (const one of rowsOf(config) ?? []) {
      rows += 1;
      const before = first.get(one.prompt);
      if (before === undefined) {
        first.set(one.prompt, { ...one, task });
        continue;
      }
      repeated += 1;
      const pair: [PromptPlace, PromptPlace] = [
        { task: before.task, row: before.row },
        { task, row: one.row },
      ];
      if (before.answer !== one.answer) contradictory.push(pair);
      if (before.split !== one.split) leaked.push(pair);
    }
  return { rows, repeated, contradictory, leaked };
}

const lengths = new Map<string, { readonly stamp: string; readonly found: PromptLengths }>();

/**
 * Of the prompts of a task with `max_prompt`; undefined: it has none, or is not read.
 * @param reader who counts, for one who asks again
 * @param count tokens of a prompt, as the model reads it
 */
export function promptLengths(
  task: TaskConfig,
  reader: string,
  count: (prompt: string) => number,
): PromptLengths | undefined {
  const { max_prompt: limit } = task.source.params;
  const source = sourceOf(task);
  if (source === undefined || typeof limit !== "number" || rowsOf(task) === undefined) return undefined;
  const key = JSON.stringify([source.key, limit, reader]);
  const known = lengths.get(key);
  if (known?.stamp === source.stamp) return known.found;
  const counts = listed(task).map(({ task: { prompt: text } }) => count(text));
  const found = {
    rows: counts.length,
    over: counts.filter((length) => length > limit).length,
    longest: counts.reduce((longest, length) => Math.max(longest, length), 0),
  };
  if (lengths.size >= most) lengths.clear();
  lengths.set(key, { stamp: source.stamp, found });
  return found;
}
