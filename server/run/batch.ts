/** Batches: samples and their tasks into columns, some rows of a batch, several batches as one. */
import type { Arm, Batch, Prompt, Ragged, RolloutRecord, RolloutSource, RolloutUse, Sample, Task, TokenColumns, Tokenizer } from "../seams.ts";
import { origin } from "../seams.ts";

/** A rollout that is about to be written: everything but its tokens. */
export interface Draft {
  readonly task: Task;
  readonly arm: Arm;
  readonly group: string;
  /** Place in the group. */
  readonly index: number;
  readonly prompt: Prompt;
  readonly use: RolloutUse;
  readonly source: RolloutSource;
}

/** Ragged integers from rows. */
export function ragged(rows: readonly ArrayLike<number>[]): Ragged {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => (offsets[i + 1] = offsets[i]! + row.length));
  const values = new Int32Array(offsets[rows.length]!);
  rows.forEach((row, i) => values.set(row, offsets[i]));
  return { offsets, values };
}

/** The response as text: what was given and written, without the end token. */
function responseOf(tokens: Int32Array, tokenizer: Tokenizer): string {
  const end = tokens.at(-1) === tokenizer.eos ? tokens.length - 1 : tokens.length;
  return tokenizer.decode(tokens.subarray(0, end));
}

const whole = (draft: Draft, sample: Sample): Int32Array => Int32Array.from([...(draft.prompt.prefix ?? []), ...sample.tokens]);

function recordOf(draft: Draft, sample: Sample, tokens: Int32Array, tokenizer: Tokenizer): RolloutRecord {
  const { task, arm, group, index, use, source } = draft;
  return { task, arm, group, index, prompt: task.prompt, response: responseOf(tokens, tokenizer), finish: sample.finish, source, use };
}

/** A float column over whole rows: NaN on the given prefix, the sample's values on what was written. */
function spread(drafts: readonly Draft[], samples: readonly Sample[], length: number, of: (sample: Sample) => Float64Array): Float64Array {
  const column = new Float64Array(length).fill(Number.NaN);
  let at = 0;
  drafts.forEach((draft, i) => {
    at += draft.prompt.prefix?.length ?? 0;
    const values = of(samples[i]!);
    column.set(values, at);
    at += values.length;
  });
  return column;
}

/** Dense group numbers in order of first appearance. */
function numberGroups(names: readonly string[]): { group: Int32Array; groups: number } {
  const numbers = new Map<string, number>();
  const group = Int32Array.from(names, (name) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name)!;
  });
  return { group, groups: numbers.size };
}

/** Samples, in any order, as a batch in the order of their drafts. `sample.index` is the draft's position. */
export function assemble(drafts: readonly Draft[], unordered: readonly Sample[], tokenizer: Tokenizer, version: number): Batch {
  const samples = [...unordered].sort((a, b) => a.index - b.index);
  const rows = drafts.map((draft, i) => whole(draft, samples[i]!));
  const { offsets, values: tokens } = ragged(rows);
  const origins = new Uint8Array(tokens.length);
  const versions = new Int32Array(tokens.length).fill(-1);
  drafts.forEach((draft, i) => {
    const given = draft.prompt.prefix?.length ?? 0;
    origins.fill(origin.given, offsets[i], offsets[i]! + given);
    versions.set(samples[i]!.versions, offsets[i]! + given);
  });
  const column = (of: (sample: Sample) => Float64Array): Float64Array => spread(drafts, samples, tokens.length, of);
  return {
    rows: rows.length, offsets, tokens, origin: origins, version,
    mask: origins.map((value) => (value === origin.written ? 1 : 0)),
    columns: { logp_old: column((s) => s.logp_old), logp_sampled: column((s) => s.logp_sampled), entropy: column((s) => s.entropy), versions },
    context: ragged(drafts.map((draft) => draft.prompt.tokens)),
    ...numberGroups(drafts.map((draft) => draft.group)),
    records: drafts.map((draft, i) => recordOf(draft, samples[i]!, rows[i]!, tokenizer)),
  };
}

/** Some rows of a ragged column. */
function pickRagged(from: Ragged, rows: readonly number[]): Ragged {
  return ragged(rows.map((row) => from.values.subarray(from.offsets[row], from.offsets[row + 1])));
}

/** Some rows of a token column, in their order. */
export function pickTokens<Column extends Float64Array | Int32Array | Uint8Array>(batch: Batch, column: Column, rows: readonly number[], into: Column): Column {
  let at = 0;
  for (const row of rows) {
    const part = column.subarray(batch.offsets[row], batch.offsets[row + 1]);
    into.set(part, at);
    at += part.length;
  }
  return into;
}

export const lengthOf = (batch: Batch, row: number): number => batch.offsets[row + 1]! - batch.offsets[row]!;

function pickColumns(batch: Batch, rows: readonly number[], length: number): TokenColumns {
  const { versions, ...floats } = batch.columns;
  const picked = Object.entries(floats).map(([name, column]): [string, Float64Array] => [name, pickTokens(batch, column, rows, new Float64Array(length))]);
  return { ...Object.fromEntries(picked), ...(versions === undefined ? {} : { versions: pickTokens(batch, versions, rows, new Int32Array(length)) }) };
}

/** A batch of some rows of another, groups and pairs numbered anew. */
export function select(batch: Batch, rows: readonly number[]): Batch {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => (offsets[i + 1] = offsets[i]! + lengthOf(batch, row)));
  const length = offsets[rows.length]!;
  const { pair } = batch;
  return {
    rows: rows.length, offsets,
    tokens: pickTokens(batch, batch.tokens, rows, new Int32Array(length)),
    origin: pickTokens(batch, batch.origin, rows, new Uint8Array(length)),
    mask: pickTokens(batch, batch.mask, rows, new Uint8Array(length)),
    columns: pickColumns(batch, rows, length),
    context: pickRagged(batch.context, rows),
    ...(batch.trainContext === undefined ? {} : { trainContext: pickRagged(batch.trainContext, rows) }),
    ...numberGroups(rows.map((row) => String(batch.group[row]))),
    ...(pair === undefined ? {} : { pair: renumberPairs(pair, rows) }),
    ...(batch.version === undefined ? {} : { version: batch.version }),
    records: rows.map((row) => batch.records[row]!),
  };
}

function renumberPairs(pair: Int32Array, rows: readonly number[]): Int32Array {
  const numbers = new Map<number, number>();
  return Int32Array.from(rows, (row) => {
    const old = pair[row]!;
    if (old < 0) return -1;
    if (!numbers.has(old)) numbers.set(old, numbers.size);
    return numbers.get(old)!;
  });
}

const joinRagged = (parts: readonly Ragged[]): Ragged =>
  ragged(parts.flatMap(({ offsets, values }) => Array.from({ length: offsets.length - 1 }, (_, i) => values.subarray(offsets[i], offsets[i + 1]))));

const joinFloats = (parts: readonly Float64Array[], length: number): Float64Array => join(parts, new Float64Array(length));
function join<Column extends Float64Array | Int32Array | Uint8Array>(parts: readonly Column[], into: Column): Column {
  let at = 0;
  for (const part of parts) {
    into.set(part, at);
    at += part.length;
  }
  return into;
}

/** Several generated batches as one. Groups of different batches are different groups even under equal numbers. */
export function concatenate(batches: readonly Batch[]): Batch {
  const [first] = batches;
  if (first === undefined) throw new RangeError("concatenate needs a batch");
  if (batches.length === 1) return first;
  const length = batches.reduce((sum, batch) => sum + batch.tokens.length, 0);
  const floats = (["logp_old", "logp_sampled", "entropy", "values"] as const).filter((name) => first.columns[name] !== undefined);
  const columns = Object.fromEntries(floats.map((name) => [name, joinFloats(batches.map((batch) => batch.columns[name]!), length)]));
  return {
    rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
    offsets: joinRagged(batches.map((batch) => ({ offsets: batch.offsets, values: batch.tokens }))).offsets,
    tokens: join(batches.map((batch) => batch.tokens), new Int32Array(length)),
    origin: join(batches.map((batch) => batch.origin), new Uint8Array(length)),
    mask: join(batches.map((batch) => batch.mask), new Uint8Array(length)),
    columns: first.columns.versions === undefined ? columns : { ...columns, versions: join(batches.map((batch) => batch.columns.versions!), new Int32Array(length)) },
    context: joinRagged(batches.map((batch) => batch.context)),
    ...(first.version === undefined ? {} : { version: first.version }),
    ...numberGroups(batches.flatMap((batch, b) => [...batch.group].map((group) => `${b}/${group}`))),
    records: batches.flatMap((batch) => batch.records),
  };
}
