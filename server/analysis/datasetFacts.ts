/**
 * What a config's datasets hold, apart from their rows: prompts that are repeated, that are on both sides of the split, or
 * that are too long. A file is read once until it changes; what is kept of a row is a few hashes and its length.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { messageOf, UserError } from "../../shared/lib/errors.ts";
import { datasetOf } from "../core/datasetLines.ts";
import type { DatasetLook, PromptLengths, PromptPairs, PromptPlace } from "../core/config/modelFacts.ts";
import type { TaskConfig } from "../core/config/resolved.ts";
import type { ListedTask } from "../core/slots/tasks.ts";
import { create } from "../core/create.ts";
import { splitOf, type Split } from "../core/split.ts";
import { datasetFiles } from "../lib/datasets/files.ts";
import { randomStream } from "../lib/random.ts";
import { noModels } from "./rescore/noModels.ts";

/** Larger data are not read while a config is checked; in bytes of all files of a task. */
const largest = 64 * 2 ** 20;

/** What is asked of a task here. */
export type DatasetTask = Pick<TaskConfig, "name" | "source">;

interface PromptRow {
  /** Of the prompt without what does not matter. */
  readonly prompt: string;
  readonly answer: string | undefined;
  readonly split: Split;
  readonly file: string;
  readonly row: number;
}

/** Values by a key, until what they are of changes. */
class Stamped<Value> {
  private readonly known = new Map<string, { readonly stamp: string; readonly value: Value }>();

  /** Files and templates that are remembered. */
  private static readonly most = 32;

  get(key: string, stamp: string): Value | undefined {
    const found = this.known.get(key);
    return found?.stamp === stamp ? found.value : undefined;
  }

  set(key: string, stamp: string, value: Value): Value {
    if (this.known.size >= Stamped.most) this.known.clear();
    this.known.set(key, { stamp, value });
    return value;
  }
}

/** null: a row cannot be read, which is reported elsewhere. */
const cache = new Stamped<readonly PromptRow[] | null>();
const counted = new Stamped<Uint32Array>();
/** Many texts: they are read once for what is asked of them at a time, and not kept. */
const listings = new Stamped<WeakRef<readonly ListedTask[]>>();

/** Case, white space and punctuation at the end do not make another prompt; digits and signs do. */
const normalised = (prompt: string): string =>
  prompt
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[.,;:!?"'`]+(?= |$)/g, "")
    .trim();

const hashed = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

interface Source {
  /** The data and the templates that make prompts of them. */
  readonly key: string;
  readonly stamp: string;
  readonly bytes: number;
}

/** undefined: the task is no dataset, or its files are not there, or too large. */
function sourceOf({ source }: DatasetTask): Source | undefined {
  const dataset = datasetOf(source);
  const files = dataset === undefined ? [] : filesOf(dataset);
  const stats = files.map((file) => statSync(file, { throwIfNoEntry: false }));
  const bytes = stats.reduce((sum, one) => sum + (one?.size ?? 0), 0);
  if (files.length === 0 || stats.some((one) => one?.isFile() !== true) || bytes > largest) return undefined;
  const { prompt, answer, chosen, rejected } = source.params;
  return {
    key: JSON.stringify([dataset, prompt, answer, chosen, rejected]),
    stamp: stats.map((one, i) => `${files[i]} ${one?.mtimeMs} ${one?.size}`).join("\n"),
    bytes,
  };
}

function filesOf(dataset: string): readonly string[] {
  try {
    return datasetFiles(dataset);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** What a look at these tasks depends on, and the bytes that it reads. */
export function readingOf(tasks: readonly DatasetTask[]): { readonly key: string; readonly bytes: number } {
  const sources = tasks.map(sourceOf);
  const bytes = sources.reduce((sum, source) => sum + (source?.bytes ?? 0), 0);
  return { key: JSON.stringify(sources), bytes };
}

/** Every task as the files have it: nothing is left out for its length. */
function listed(task: DatasetTask, { key, stamp }: Source): readonly ListedTask[] {
  const known = listings.get(key, stamp)?.deref();
  if (known !== undefined) return known;
  const { source } = task;
  const whole = { ...source, params: { ...source.params, max_prompt: undefined } };
  const random = randomStream(0, "dataset-facts");
  const tasks =
    create(whole, { random, models: noModels, max_tokens: 1, group: 1 }, task.name).listed?.() ?? [];
  listings.set(key, stamp, new WeakRef(tasks));
  return tasks;
}

/** null: there are no rows that can be read. */
function rowsOf(task: DatasetTask): readonly PromptRow[] | null {
  const source = sourceOf(task);
  if (source === undefined) return null;
  const known = cache.get(source.key, source.stamp);
  return known === undefined ? cache.set(source.key, source.stamp, readRows(task, source)) : known;
}

function readRows(task: DatasetTask, source: Source): readonly PromptRow[] | null {
  try {
    return listed(task, source).map(({ task: { id, prompt, answer }, file, row }) => ({
      prompt: hashed(normalised(prompt)),
      answer: answer === undefined ? undefined : hashed(answer.trim()),
      split: splitOf(id),
      file,
      row,
    }));
  } catch (error) {
    if (error instanceof UserError) return null;
    throw new Error(`${datasetOf(task.source) ?? ""}: ${messageOf(error)}`, { cause: error });
  }
}

/** The last one: an editor asks again after every key. */
let last: { readonly sources: string; readonly look: DatasetLook } | undefined;

/** @param tasks all that a config asks, in its order */
export function datasetLook(tasks: readonly DatasetTask[]): DatasetLook {
  const sources = readingOf(tasks).key;
  if (last?.sources !== sources) last = { sources, look: compared(tasks) };
  return last.look;
}

/** Pairs that a message may name. */
const shown = 8;

class Pairs implements PromptPairs {
  count = 0;
  readonly first: [PromptPlace, PromptPlace][] = [];

  add(pair: [PromptPlace, PromptPlace]): void {
    this.count += 1;
    if (this.first.length < shown) this.first.push(pair);
  }
}

function compared(tasks: readonly DatasetTask[]): DatasetLook {
  const first = new Map<string, PromptRow & { readonly task: number }>();
  const [contradictory, leaked] = [new Pairs(), new Pairs()];
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
        { task: before.task, file: before.file, row: before.row },
        { task, file: one.file, row: one.row },
      ];
      if (before.answer !== one.answer) contradictory.add(pair);
      if (before.split !== one.split) leaked.add(pair);
    }
  return { rows, repeated, contradictory: { ...contradictory }, leaked: { ...leaked } };
}

/**
 * Tokens of each prompt of a task; undefined: its data are not read.
 * @param reader who counts, for one who asks again
 * @param count tokens of a prompt, as the model reads it
 */
export function promptCounts(
  task: DatasetTask,
  reader: string,
  count: (prompt: string) => number,
): Uint32Array | undefined {
  const source = sourceOf(task);
  if (source === undefined || rowsOf(task) === null) return undefined;
  const key = JSON.stringify([source.key, reader]);
  return (
    counted.get(key, source.stamp) ??
    counted.set(
      key,
      source.stamp,
      Uint32Array.from(listed(task, source), ({ task: { prompt } }) => count(prompt)),
    )
  );
}

/** How many of the prompts are longer than a limit. */
export const lengthsWithin = (counts: Uint32Array, limit: number): PromptLengths => ({
  rows: counts.length,
  over: counts.reduce((sum, length) => sum + (length > limit ? 1 : 0), 0),
  longest: counts.reduce((longest, length) => Math.max(longest, length), 0),
});
