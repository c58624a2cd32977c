/** Recorded rollouts as the algorithm reads them: rows from a file, and rows as a batch. */
import { UserError } from "../../shared/lib/errors.ts";
import {
  fromWire,
  parseRollout,
  type MaybeNumber,
  type RolloutRow,
  type RowPlace,
} from "../../shared/rollouts/rollouts.ts";
import { tokenKeys, type ColumnWith } from "../../shared/rollouts/columns.ts";
import { numbered, offsetsOf, raggedOf } from "../core/rows/batch.ts";
import { rowColumnsBy, tokenColumns } from "../core/rows/columns.ts";
import type { TaskConfig } from "../core/config/resolved.ts";
import { jsonLines } from "../lib/jsonLines.ts";
import type { TermValue } from "../core/slots/reward.ts";
import { origin, type Batch, type RolloutRecord, type TokenColumns } from "../core/rollouts.ts";

export interface RecordedRow {
  readonly row: RolloutRow;
  readonly place: RowPlace;
}

/** Every row of a JSONL file, in order; blank lines are skipped. */
export async function readRollouts(file: string): Promise<RecordedRow[]> {
  const rows = await jsonLines(file, (text, place) => ({ row: parseRollout(text, place), place }), {
    what: "rollouts",
    code: "rollouts-missing",
    action: "Check the path given to --rollouts.",
  });
  if (rows.length === 0)
    throw new UserError("there is no rollout in the file", {
      file,
      code: "rollouts-empty",
      action: "Export some with `gradus rollouts RUN --json > rollouts.jsonl`.",
    });
  return rows;
}

/** Tokens of a row: as many as its per-token lists have entries. */
function lengthOf(row: RolloutRow): number {
  for (const key of ["logp_new", "logp_old", ...tokenKeys] as const) {
    const values = row[key];
    if (values !== undefined) return values.length;
  }
  return 0;
}

/** The task source's name in the config: by the arm, else by the environment; undefined where neither says. */
export function sourceNameOf({ task }: RolloutRow, tasks: readonly TaskConfig[]): string | undefined {
  const { arm, env } = task ?? {};
  const byArm =
    arm === undefined ? undefined : tasks.find(({ name }) => arm === name || arm.startsWith(`${name}/`));
  if (byArm !== undefined) return byArm.name;
  if (env === undefined) return undefined;
  return (
    tasks.find(({ name }) => name === env)?.name ??
    tasks.find(({ source }) => source.declaration.name === env)?.name
  );
}

/** Group identity is (run, step, group). */
export const groupKey = ({ run, step, group }: RolloutRow): string =>
  JSON.stringify([run ?? "", step, String(group)]);

/** What a row is, apart from its tokens. */
export function recordOf(row: RolloutRow, tasks: readonly TaskConfig[]): RolloutRecord {
  const {
    task,
    prompt = "",
    turns,
    tries,
    failed,
    played,
    part,
    steps,
    spans,
    parent,
    pair,
    help,
    mixture,
    shown,
  } = row;
  const source = sourceNameOf(row, tasks) ?? task?.env ?? "";
  const answer = task?.answer ?? task?.data?.["answer"];
  return {
    task: {
      id: task?.id ?? String(row.group),
      source,
      env: task?.env ?? "",
      prompt,
      data: task?.data ?? {},
      ...(typeof answer === "string" ? { answer } : {}),
    },
    arm: task?.arm ?? source,
    group: String(row.group),
    index: row.index,
    prompt,
    response: row.response ?? "",
    finish: row.finish ?? "stop",
    source: row.source ?? "self",
    use: row.use ?? "train",
    ...(turns === undefined ? {} : { turns }),
    ...(tries === undefined ? {} : { tries }),
    ...(failed === undefined ? {} : { failed }),
    ...(part === undefined ? {} : { part }),
    ...(played === undefined
      ? {}
      : {
          played: {
            ...played,
            components: Object.fromEntries(
              Object.entries(played.components).map(([name, value]) => [name, fromWire(value)]),
            ),
            seconds: Number.NaN,
          },
        }),
    ...(steps === undefined ? {} : { steps }),
    ...(spans === undefined ? {} : { spans }),
    ...(parent === undefined ? {} : { parent }),
    ...(pair === undefined ? {} : { pair }),
    ...(help === undefined ? {} : { help }),
    ...(mixture === undefined ? {} : { mixture }),
    ...(shown === undefined ? {} : { shown }),
  };
}

/** A per-token column; NaN on rows that lack it. undefined where no row has it. */
export function columnOfRows(
  rows: readonly RolloutRow[],
  key: ColumnWith<{ per: "token"; dtype: "float64" }>,
  offsets: Int32Array,
): Float64Array | undefined {
  if (rows.every((row) => row[key] === undefined)) return undefined;
  const column = new Float64Array(offsets.at(-1)!).fill(Number.NaN);
  rows.forEach((row, i) => {
    const values: readonly MaybeNumber[] = row[key] ?? [];
    values.forEach((value, at) => (column[offsets[i]! + at] = fromWire(value)));
  });
  return column;
}

/** Versions count the weights of the run that wrote them: in another they mean nothing. */
const columnsOf = (rows: readonly RolloutRow[], offsets: Int32Array): TokenColumns =>
  tokenColumns(
    (name) => columnOfRows(rows, name, offsets),
    () => undefined,
  );

/** Numbers of whole rows, as far as any row has them. */
export const rowColumnsOf = (rows: readonly RolloutRow[]): Pick<Batch, "rowColumns"> =>
  rowColumnsBy((name) =>
    rows.some((row) => (row[name] ?? null) !== null)
      ? Float64Array.from(rows, (row) => fromWire(row[name] ?? null))
      : undefined,
  );

/** The rows as one batch. The mask is the recorded one, else the generated tokens. */
export function batchOfRows(rows: readonly RolloutRow[], tasks: readonly TaskConfig[]): Batch {
  const offsets = offsetsOf(rows.map(lengthOf));
  const size = offsets.at(-1)!;
  const tokens = new Int32Array(size);
  const origins = new Uint8Array(size);
  const mask = new Uint8Array(size);
  rows.forEach((row, i) => {
    const start = offsets[i]!;
    if (row.tokens !== undefined) tokens.set(row.tokens, start);
    row.origin?.forEach((kind, at) => (origins[start + at] = origin[kind]));
    for (let at = start; at < offsets[i + 1]!; at++)
      mask[at] = Number(row.mask?.[at - start] ?? (origins[at] === origin.written ? 1 : 0));
  });
  const pairs = rows.map((row) =>
    row.pair === undefined ? undefined : JSON.stringify([groupKey(row), row.pair]),
  );
  const known = [...new Set(pairs.filter((pair) => pair !== undefined))];
  return {
    rows: rows.length,
    offsets,
    tokens,
    origin: origins,
    mask,
    columns: columnsOf(rows, offsets),
    ...rowColumnsOf(rows),
    context: raggedOf(rows.map(({ context }) => context ?? [])),
    ...(rows.some(({ train_context }) => train_context !== undefined)
      ? { trainContext: raggedOf(rows.map(({ context, train_context }) => train_context ?? context ?? [])) }
      : {}),
    ...numbered(rows.map(groupKey)),
    ...(known.length === 0
      ? {}
      : { pair: Int32Array.from(pairs, (pair) => (pair === undefined ? -1 : known.indexOf(pair))) }),
    records: rows.map((row) => recordOf(row, tasks)),
  };
}

/** What a row recorded of a term. A non-finite value is an error, as it would have been when it was scored. */
export function recordedValue(row: RolloutRow, term: string): TermValue {
  const criteria = row.details?.[term]?.criteria;
  return { ...recordedNumber(row, term), ...(criteria && { criteria }), ...recordedComponents(row, term) };
}

/** Unknown keys of a row may hold anything: what is no number is left out. */
function recordedComponents(row: RolloutRow, term: string): Pick<TermValue, "components"> {
  const own = row.components?.[term];
  if (typeof own !== "object" || own === null) return {};
  const numbers = Object.entries(own).map(([name, value]) => [name, fromWire(value)] as const);
  const components = Object.fromEntries(numbers.filter(([, value]) => Number.isFinite(value)));
  return Object.keys(components).length === 0 ? {} : { components };
}

function recordedNumber(row: RolloutRow, term: string): TermValue {
  const message = row.errors?.[term];
  if (message !== undefined) return { kind: "error", message };
  const value = row.rewards?.[term];
  if (value === undefined || value === null) return { kind: "none" };
  if (typeof value === "object")
    return { kind: "values", level: value.level, values: value.values.map(fromWire) };
  const number = fromWire(value);
  return Number.isFinite(number)
    ? { kind: "value", value: number }
    : { kind: "error", message: `the recorded value is ${number}` };
}
