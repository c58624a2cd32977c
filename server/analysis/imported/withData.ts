/**
 * Imported rollouts with the fields of their tasks: trainers dump a prompt's text and none of its columns, but the text
 * holds what a row of the config's data asks.
 */
import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { writerNames } from "../../../shared/run/origin.ts";
import type { TaskConfig } from "../../core/config/resolved.ts";
import type { Batch, RolloutRecord } from "../../core/rollouts.ts";
import { datasetOf } from "../../core/datasetLines.ts";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { datasetPlace, isHubDataset } from "../../lib/datasets/name.ts";
import { perObject } from "../../lib/perObject.ts";
import { fillFrom, isObject, rowsOf, type DatasetRow } from "../../methods/tasks/datasetRows.ts";
import { PromptIndex } from "./promptIndex.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

interface DataRow {
  readonly data: JsonObject;
  readonly answer: string | undefined;
  readonly source: string;
}

/** Larger data are not held for it. */
const mostBytes = 128 * 1024 * 1024;
const mostRows = 500_000;
/** Indexes of data that are kept: an editor loads a config again with each edit. */
const mostKept = 2;
const mostPrompts = 20_000;

class Join {
  private readonly found = new Map<string, DataRow | undefined>();
  /** @param talks whether every prompt of the data is a list of messages: then TRL hands messages to rewards */
  constructor(
    private readonly index: PromptIndex<DataRow>,
    readonly talks: boolean,
  ) {}

  find(prompt: string): DataRow | undefined {
    if (this.found.has(prompt)) return this.found.get(prompt);
    if (this.found.size >= mostPrompts) this.found.clear();
    const row = this.index.find(prompt);
    this.found.set(prompt, row);
    return row;
  }
}

/**
 * The records as they are, those of another trainer with the fields of their data and the task source they are of. What the
 * trainer recorded stays as it is, and so does a record whose prompt holds no row's text, or that of several rows.
 */
export function withData(
  records: readonly RolloutRecord[],
  tasks: readonly TaskConfig[],
): readonly RolloutRecord[] {
  if (!records.some(isImported)) return records;
  const join = joinOf(tasks);
  if (join === undefined) return records;
  return records.map((record) => {
    if (!isImported(record)) return record;
    const found = join.find(record.prompt);
    if (found !== undefined) return joined(record, found);
    return join.talks && record.task.env === "trl" ? asTalk(record) : record;
  });
}

/** A record, whoever made it, with the fields of the data row whose text its prompt holds; itself where there is none. */
export function withRow(record: RolloutRecord, tasks: readonly TaskConfig[]): RolloutRecord {
  const found = joinOf(tasks)?.find(record.prompt);
  return found === undefined ? record : joined(record, found);
}

/** `withData` of a batch's records. */
export const batchWithData = (batch: Batch, tasks: readonly TaskConfig[]): Batch => ({
  ...batch,
  records: withData(batch.records, tasks),
});

function joined(record: RolloutRecord, found: DataRow): RolloutRecord {
  const { task } = record;
  const { answer = found.answer } = task;
  const more = answer === undefined ? {} : { answer };
  return {
    ...record,
    task: { ...task, source: found.source, data: { ...found.data, ...task.data }, ...more },
  };
}

/** Its prompt in the form that the data's have, as far as its text says. */
function asTalk(record: RolloutRecord): RolloutRecord {
  const { task, prompt } = record;
  const data: JsonObject = { prompt: [{ role: "user", content: prompt }], ...task.data };
  return { ...record, task: { ...task, data } };
}

const isImported = ({ task: { env } }: RolloutRecord): boolean => Object.hasOwn(writerNames, env);

export interface DataFound {
  /** Rollouts whose prompt holds the text of one row of the data. */
  readonly found: number;
  readonly of: number;
  /** The data, as the config names them. */
  readonly files: readonly string[];
}

/** What `withData` finds for some records; undefined: the config has no data of at most so many bytes. */
export function dataFound(
  records: readonly RolloutRecord[],
  tasks: readonly TaskConfig[],
  bytes: number,
): DataFound | undefined {
  const join = dataSize(tasks) > bytes ? undefined : joinOf(tasks);
  if (join === undefined) return undefined;
  const found = records.filter(({ prompt }) => join.find(prompt) !== undefined).length;
  const files = dataOf(tasks).map(({ source }) => {
    const place = placeOf(source);
    return isHubDataset(place) ? place : relativePath(source.folder, place);
  });
  return { found, of: records.length, files };
}

const dataOf = (tasks: readonly TaskConfig[]): TaskConfig[] =>
  tasks.filter(({ source }) => datasetOf(source) !== undefined);

/** None where they cannot be found: that is reported elsewhere. */
function filesOf(tasks: readonly TaskConfig[]): readonly string[] {
  try {
    return dataOf(tasks).flatMap(({ source }) => datasetFiles(placeOf(source)));
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** Bytes of the config's data; 0: they are not here. */
export const dataSize = (tasks: readonly TaskConfig[]): number => sizeOf(filesOf(tasks));

const sizeOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

const joinOf = perObject((tasks: readonly TaskConfig[]): Join | undefined => {
  try {
    return keptJoin(tasks);
  } catch (error) {
    // Data that cannot be read are reported by whoever needs them.
    if (error instanceof UserError) return undefined;
    throw error;
  }
});

const kept = new Map<string, Join>();

function keptJoin(tasks: readonly TaskConfig[]): Join | undefined {
  const data = dataOf(tasks);
  const files = filesOf(data);
  const size = sizeOf(files);
  if (size === 0 || size > mostBytes) return undefined;
  const stamps = files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.mtimeMs]);
  const key = JSON.stringify([size, stamps, data.map(({ name, source: { params } }) => [name, params])]);
  const join = kept.get(key) ?? joinWith(data);
  kept.delete(key);
  kept.set(key, join);
  for (const [oldest] of kept) if (kept.size > mostKept) kept.delete(oldest);
  return join;
}

const placeOf = (source: TaskConfig["source"]): string =>
  datasetPlace(source.folder, String(source.params["dataset"]));

function joinWith(tasks: readonly TaskConfig[]): Join {
  const index = new PromptIndex<DataRow>();
  let [count, talking] = [0, 0];
  for (const { name, source } of tasks)
    for (const row of rowsOf(placeOf(source))) {
      if ((count += 1) > mostRows) return new Join(new PromptIndex(), false);
      const asked = lastAsked(row.value["prompt"]);
      if (asked !== undefined) talking += 1;
      const text = asked ?? filled(source.params["prompt"], row);
      if (text === undefined) continue;
      const answer = filled(source.params["answer"], row);
      index.add(text, { data: row.value, answer, source: name }, isDeepStrictEqual);
    }
  return new Join(index, count > 0 && talking === count);
}

/** What the user says last: a template writes the messages before it in its own way. */
function lastAsked(prompt: Json | undefined): string | undefined {
  if (!Array.isArray(prompt)) return undefined;
  const last = prompt.findLast((message) => isObject(message) && message["role"] === "user");
  const content = isObject(last) ? last["content"] : undefined;
  return typeof content === "string" ? content : undefined;
}

/** undefined: there is no template, or the row lacks a field of it. */
function filled(template: unknown, row: DatasetRow): string | undefined {
  if (typeof template !== "string") return undefined;
  try {
    return fillFrom(template, row);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
