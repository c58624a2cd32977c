/** Prompts to batches: what is about to be written, the samples that came back, several rounds as one batch. */
import { batchOfSamples, numbered, offsetsOf, raggedOf, type SampledRow } from "../batch.ts";
import type {
  Arm,
  Batch,
  Prompt,
  Ragged,
  RolloutRecord,
  RolloutSource,
  RolloutUse,
  Sample,
  Task,
  Tokenizer,
} from "../seams.ts";

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

/** The response as text: what was given and written, without the end token. */
function responseOf({ prompt }: Draft, { tokens }: Sample, tokenizer: Tokenizer): string {
  const ends = tokenizer.eosAll ?? [tokenizer.eos];
  const written = ends.includes(tokens.at(-1) ?? -1) ? tokens.subarray(0, -1) : tokens;
  return tokenizer.decode([...(prompt.prefix ?? []), ...written]);
}

function rowOf(draft: Draft, sample: Sample, tokenizer: Tokenizer): SampledRow {
  const { task, arm, group, index, prompt, use, source } = draft;
  const record: RolloutRecord = {
    task,
    arm,
    group,
    index,
    prompt: task.prompt,
    response: responseOf(draft, sample, tokenizer),
    finish: sample.finish,
    source,
    use,
  };
  return {
    record,
    sample,
    context: prompt.tokens,
    ...(prompt.prefix === undefined ? {} : { given: prompt.prefix }),
  };
}

/** Samples, in whatever order they were finished, as a batch in the order of their drafts. */
export function assemble(
  drafts: readonly Draft[],
  samples: ReadonlyMap<number, Sample>,
  tokenizer: Tokenizer,
  version: number,
): Batch {
  return { ...batchOfSamples(drafts.map((draft, i) => rowOf(draft, samples.get(i)!, tokenizer))), version };
}

const lengths = (offsets: Int32Array): number[] =>
  Array.from({ length: offsets.length - 1 }, (_, row) => offsets[row + 1]! - offsets[row]!);
const rowsOf = ({ offsets, values }: Ragged): Int32Array[] =>
  lengths(offsets).map((_, row) => values.subarray(offsets[row], offsets[row + 1]));

function join<Column extends Float64Array | Int32Array | Uint8Array>(
  parts: readonly Column[],
  into: Column,
): Column {
  let at = 0;
  for (const part of parts) {
    into.set(part, at);
    at += part.length;
  }
  return into;
}

/** The rounds of one step as one batch. A group never spans rounds: equal names in two rounds are two groups. */
export function concatenate(batches: readonly [Batch, ...Batch[]]): Batch {
  const [first] = batches;
  if (batches.length === 1) return first;
  const size = batches.reduce((sum, batch) => sum + batch.tokens.length, 0);
  const present = (["logp_old", "logp_sampled", "entropy", "values"] as const).filter(
    (name) => first.columns[name] !== undefined,
  );
  const floats = present.map((name) => [
    name,
    join(
      batches.map((batch) => batch.columns[name]!),
      new Float64Array(size),
    ),
  ]);
  const { versions } = first.columns;
  return {
    rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
    offsets: offsetsOf(batches.flatMap((batch) => lengths(batch.offsets))),
    tokens: join(
      batches.map((batch) => batch.tokens),
      new Int32Array(size),
    ),
    origin: join(
      batches.map((batch) => batch.origin),
      new Uint8Array(size),
    ),
    mask: join(
      batches.map((batch) => batch.mask),
      new Uint8Array(size),
    ),
    columns: {
      ...Object.fromEntries(floats),
      ...(versions === undefined
        ? {}
        : {
            versions: join(
              batches.map((batch) => batch.columns.versions!),
              new Int32Array(size),
            ),
          }),
    },
    ...(first.rowColumns?.reward_baseline === undefined
      ? {}
      : {
          rowColumns: {
            reward_baseline: join(
              batches.map((batch) => batch.rowColumns!.reward_baseline!),
              new Float64Array(batches.reduce((sum, batch) => sum + batch.rows, 0)),
            ),
          },
        }),
    context: raggedOf(batches.flatMap((batch) => rowsOf(batch.context))),
    ...(first.version === undefined ? {} : { version: first.version }),
    ...numbered(batches.flatMap((batch, round) => [...batch.group].map((group) => `${round}/${group}`))),
    records: batches.flatMap((batch) => batch.records),
  };
}
