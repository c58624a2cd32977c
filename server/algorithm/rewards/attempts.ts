/** Attempts of episodes as rollouts of their own, and what a term said of them as one thing about the episode. */
import { offsetsOf, raggedOf } from "../../core/rows/batch.ts";
import { mapTokenColumns } from "../../core/rows/columns.ts";
import type { TermAttempts } from "../../core/blocks/reward.ts";
import type { Turn } from "../../core/slots/turn.ts";
import type { TermValue, TextSpans } from "../../core/slots/reward.ts";
import type { Level } from "../../core/basics.ts";
import type { Batch, RolloutRecord } from "../../core/rollouts.ts";
import type { Tokenizer } from "../../core/policy.ts";
import type { RewardContext, RewardTerm } from "../../core/reward.ts";

/** One attempt: tokens [from, to) of a row, and its place among the row's turns; −1: the row is one attempt. */
interface Attempt {
  readonly row: number;
  readonly turn: number;
  readonly from: number;
  readonly to: number;
}

/** Attempts of some rows as rows, and which they are. */
export interface Attempts {
  readonly batch: Batch;
  readonly of: readonly Attempt[];
}

type SaidTurn = Turn & { readonly text: string };
const isAttempt = (turn: Turn): turn is SaidTurn => turn.role === "assistant" && turn.text !== undefined;

/** Whether a row has attempts that a term can read by themselves: those whose text is known. */
const hasAttempts = ({ turns }: RolloutRecord): boolean => turns?.some(isAttempt) === true;

function attemptsOf({ records, offsets }: Batch, row: number): Attempt[] {
  const whole = { row, turn: -1, from: 0, to: offsets[row + 1]! - offsets[row]! };
  const { turns = [] } = records[row]!;
  const own = turns.flatMap((turn, place): Attempt[] =>
    isAttempt(turn) ? [{ row, turn: place, from: turn.start, to: turn.end }] : [],
  );
  return own.length === 0 ? [whole] : own;
}

/** Spans [start, end) that lie within an attempt, counted from its first token. */
const within = <Span extends readonly [number, number]>(
  spans: readonly Span[],
  { from, to }: Attempt,
): (readonly [number, number])[] =>
  spans.flatMap(([start, end]) => (start >= from && end <= to ? [[start - from, end - from] as const] : []));

function recordOf(record: RolloutRecord, attempt: Attempt): RolloutRecord {
  const turn = record.turns?.[attempt.turn];
  if (turn?.text === undefined) return record;
  const { turns: _, tries: __, steps, spans, ...rest } = record;
  return {
    ...rest,
    response: turn.text,
    finish: turn.finish ?? record.finish,
    ...(steps && { steps: within(steps, attempt) }),
    ...(spans && {
      spans: Object.fromEntries(Object.entries(spans).map(([name, own]) => [name, within(own, attempt)])),
    }),
  };
}

/** Parts of rows as rows: what stood before a part in its row is part of its context. */
function sliced(batch: Batch, of: readonly Attempt[]): Batch {
  const starts = of.map(({ row, from }) => batch.offsets[row]! + from);
  const offsets = offsetsOf(of.map(({ from, to }) => to - from));
  const cut = <Column extends Float64Array | Int32Array | Uint8Array>(
    values: Column,
    into: Column,
  ): Column => {
    of.forEach(({ from, to }, i) => into.set(values.subarray(starts[i], starts[i]! + to - from), offsets[i]));
    return into;
  };
  const size = offsets.at(-1)!;
  const { offsets: begins, values: before } = batch.context;
  return {
    rows: of.length,
    offsets,
    tokens: cut(batch.tokens, new Int32Array(size)),
    origin: cut(batch.origin, new Uint8Array(size)),
    mask: cut(batch.mask, new Uint8Array(size)),
    columns: mapTokenColumns(
      batch.columns,
      (values) => cut(values, new Float64Array(size)),
      (values) => cut(values, new Int32Array(size)),
    ),
    context: raggedOf(
      of.map(({ row }, i) => [
        ...before.subarray(begins[row], begins[row + 1]),
        ...batch.tokens.subarray(batch.offsets[row], starts[i]),
      ]),
    ),
    group: Int32Array.from(of, ({ row }) => batch.group[row]!),
    groups: batch.groups,
    records: of.map((attempt) => recordOf(batch.records[attempt.row]!, attempt)),
    ...(batch.version !== undefined && { version: batch.version }),
  };
}

/** A row without attempts is one attempt. */
export function attemptsIn(batch: Batch, which: "last" | "all"): Attempts {
  const of = Array.from({ length: batch.rows }, (_, row) => attemptsOf(batch, row)).flatMap((own) =>
    which === "last" ? own.slice(-1) : own,
  );
  return { batch: sliced(batch, of), of };
}

/** What a term says of each row of a batch, as far as the config wants it to look at attempts. */
export async function scoredByAttempts(
  term: Pick<RewardTerm, "score">,
  how: TermAttempts,
  batch: Batch,
  context: RewardContext,
): Promise<readonly TermValue[]> {
  if (how === "episode" || !batch.records.some(hasAttempts)) return term.score(batch, context);
  const attempts = attemptsIn(batch, how === "last" ? "last" : "all");
  const said = await term.score(attempts.batch, { ...context, ...readByAttempt(context, attempts.of) });
  const byRow = Array.from({ length: batch.rows }, (): Said[] => []);
  attempts.of.forEach((attempt, i) =>
    byRow[attempt.row]!.push({
      attempt,
      value: moved(said[i] ?? missing, attempt, batch, context.tokenizer),
    }),
  );
  return byRow.map((own, row) => folded(own, how, batch, row));
}

/** What other terms gave attempts: each its own, where they score attempts; else what they gave the row. */
function readByAttempt({ said }: RewardContext, of: readonly Attempt[]): Pick<RewardContext, "said"> {
  if (said === undefined) return {};
  const atTurn = (value: TermValue, turn: number): TermValue =>
    value.kind === "values" && value.level === "turn" && turn >= 0
      ? { kind: "value", value: value.values[turn]! }
      : value;
  return { said: (name) => of.map(({ row, turn }) => atTurn(said(name)[row]!, turn)) };
}

interface Said {
  readonly attempt: Attempt;
  readonly value: TermValue;
}
const missing: TermValue = { kind: "error", message: "the term gave no result" };

/** Text spans of an attempt count from the response's beginning. */
function moved(value: TermValue, { row, from }: Attempt, batch: Batch, tokenizer: Tokenizer): TermValue {
  if (value.kind === "error" || value.spans === undefined || from === 0) return value;
  const start = batch.offsets[row]!;
  const before = batch.tokens.subarray(start, start + from);
  const shift = before.reduce((sum, token) => sum + tokenizer.decode([token]).length, 0);
  const spans: TextSpans = Object.fromEntries(
    Object.entries(value.spans).map(([name, own]) => [
      name,
      own.map(([a, b]) => [a + shift, b + shift] as const),
    ]),
  );
  return { ...value, spans };
}

function folded(said: readonly Said[], how: TermAttempts, batch: Batch, row: number): TermValue {
  const failed = said.findIndex(({ value }) => value.kind === "error");
  const { value: bad } = said[failed] ?? {};
  if (bad?.kind === "error")
    return said.length === 1 ? bad : { ...bad, message: `attempt ${failed + 1}: ${bad.message}` };
  if (how === "last") return placed(said.at(-1)!, batch, row);
  if (said.length === 1 && said[0]!.attempt.turn < 0) return said[0]!.value;
  const numbers = said.map(({ value }) => numberOf(value));
  if (how === "each") return atTurns(said, numbers, batch, row);
  const known = numbers.filter((number) => !Number.isNaN(number));
  if (known.length === 0) return { kind: "none", ...detailsOf(said) };
  const value = how === "best" ? Math.max(...known) : known.reduce((sum, number) => sum + number, 0);
  return { kind: "value", value, ...detailsOf(said) };
}

/** An attempt's whole reward; NaN where the term does not apply. */
function numberOf(value: TermValue): number {
  if (value.kind === "value") return value.value;
  if (value.kind !== "values") return Number.NaN;
  const known = value.values.filter((number) => !Number.isNaN(number));
  return known.length === 0 ? Number.NaN : known.reduce((sum, number) => sum + number, 0);
}

/** One value a turn, where there is one. */
function atTurns(said: readonly Said[], numbers: readonly number[], batch: Batch, row: number): TermValue {
  if (numbers.every(Number.isNaN)) return { kind: "none", ...detailsOf(said) };
  const values = new Array<number>(batch.records[row]!.turns!.length).fill(Number.NaN);
  said.forEach(({ attempt }, i) => (values[attempt.turn] = numbers[i]!));
  return { kind: "values", level: "turn", values, ...detailsOf(said) };
}

/** What is reported in addition to the value: spans of every attempt, and what was made of the criteria of the last one. */
function detailsOf(said: readonly Said[]): Pick<Extract<TermValue, { kind: "none" }>, "spans" | "criteria"> {
  const criteria = said.findLast(({ value }) => value.criteria !== undefined)?.value.criteria;
  return { ...spansOf(said), ...(criteria && { criteria }) };
}

function spansOf(said: readonly Said[]): { readonly spans?: TextSpans } {
  const all: Record<string, (readonly [number, number])[]> = {};
  for (const { value } of said)
    if (value.kind !== "error")
      for (const [name, own] of Object.entries(value.spans ?? {})) (all[name] ??= []).push(...own);
  return Object.keys(all).length === 0 ? {} : { spans: all };
}

/** Values of the last attempt's tokens or steps as values of the row's: the others have none. */
function placed({ attempt, value }: Said, batch: Batch, row: number): TermValue {
  if (value.kind !== "values" || attempt.turn < 0) return value;
  const places = placesOf(value.level, attempt, batch, row);
  if (places === undefined)
    return {
      kind: "error",
      message: "it scores by turn, but reads only one attempt: set `attempts: episode` on the term",
    };
  if (places.length !== value.values.length)
    return {
      kind: "error",
      message: `${value.values.length} values for ${places.length} ${value.level}s of the attempt`,
    };
  const size =
    value.level === "token"
      ? batch.offsets[row + 1]! - batch.offsets[row]!
      : batch.records[row]!.steps!.length;
  const values = new Array<number>(size).fill(Number.NaN);
  places.forEach((place, i) => (values[place] = value.values[i]!));
  return { ...value, values };
}

/** Where an attempt's tokens or steps are among those of its row. */
function placesOf(
  level: Exclude<Level, "response">,
  { from, to }: Attempt,
  batch: Batch,
  row: number,
): number[] | undefined {
  if (level === "turn") return undefined;
  if (level === "token") return Array.from({ length: to - from }, (_, i) => from + i);
  return (batch.records[row]!.steps ?? []).flatMap(([start, end], i) =>
    start >= from && end <= to ? [i] : [],
  );
}
