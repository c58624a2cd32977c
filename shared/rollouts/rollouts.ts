/**
 * Recorded rollouts: one JSON object a line. Writers never emit bare NaN: non-finite numbers are the strings "NaN",
 * "Infinity" and "-Infinity"; readers accept both. Unknown keys are kept.
 */
import { UserError, messageOf } from "../lib/errors.ts";
import type { TermDetails } from "./criteria.ts";
import { shallow, type Json, type JsonObject } from "../lib/json.ts";
import { tokenKeys, type Column, type ColumnWith, type TokenKey } from "./columns.ts";
import {
  origins,
  type Finish,
  type Origin,
  type ResponseOrigin,
  type RolloutSource,
  type RolloutUse,
} from "./fields.ts";

/** A number that may be non-finite on the wire, or null where no value exists. */
export type WireNumber = number | "NaN" | "Infinity" | "-Infinity";
export type MaybeNumber = WireNumber | null;

/** null: not applicable. */
export type WireReward =
  | WireNumber
  | null
  | { readonly level: "token" | "step" | "turn"; readonly values: readonly MaybeNumber[] };

/** Lists of the columns whose entries are not numbers that may be missing. */
interface Entries {
  readonly tokens: number;
  readonly origin: Origin;
  readonly mask: number;
  readonly versions: number | null;
  readonly context: number;
  readonly train_context: number;
}
type EntryOf<Name extends Column> = Name extends keyof Entries ? Entries[Name] : MaybeNumber;

/** What a row has of each column. */
type RowLists = {
  readonly [Name in Column]?: Name extends ColumnWith<{ per: "row" }>
    ? EntryOf<Name>
    : readonly EntryOf<Name>[];
};

export interface RolloutRow extends RowLists {
  readonly run?: string;
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly attempt?: number;
  readonly task?: {
    readonly env?: string;
    readonly arm?: string;
    readonly id?: string;
    readonly data?: JsonObject;
    /** The reference answer, where `data` has none of that name. */
    readonly answer?: string;
  };
  readonly prompt?: string;
  readonly response?: string;
  readonly finish?: Finish;
  readonly source?: RolloutSource;
  readonly use?: RolloutUse;
  readonly turns?: readonly {
    readonly role: string;
    readonly agent?: string;
    readonly start: number;
    readonly end: number;
    /** What it says, where a run wrote it. */
    readonly text?: string;
    /** Of an attempt: how it ended. */
    readonly finish?: Finish;
    /** Of a turn of the policy: what its environment gave for it. */
    readonly reward?: number;
    /** Of a turn that was chosen: the actions that there were. */
    readonly actions?: readonly string[];
    /** Of an answer: the tool that gave it. */
    readonly name?: string;
  }[];
  /** Why the episode could not be played to its end. */
  readonly failed?: string;
  /** Of an episode that an environment or tools answered: whether the former did, calls of the latter, and those that failed. */
  readonly played?: {
    readonly environment: boolean;
    readonly calls: number;
    readonly failed_calls: number;
    /** Numbers that the environment gave, by name. */
    readonly components: Readonly<Record<string, WireNumber>>;
    /** Reward of turns in earlier rows of the episode, and tokens of such turns that the chat template changed. */
    readonly earlier?: number;
    readonly rewritten?: number;
  };
  /** Of an episode that became several rows: which of them it is, from 1. The last is the one that is scored. */
  readonly part?: { readonly number: number; readonly of: number };
  /** Numbers of the weights that were the newest when it was begun, and when it was finished. */
  readonly policy?: { readonly start: number; readonly end: number };
  /** Attempts that the episode might have, where it might have several. */
  readonly tries?: number;
  readonly steps?: readonly (readonly [number, number])[];
  /** Token spans by a name, [start, end). */
  readonly spans?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  /** Whom of its group it left, at which token, and what it took over from there, as text. */
  readonly parent?: { readonly index: number; readonly token: number; readonly text?: string };
  readonly pair?: string;
  /** How it was helped. */
  readonly help?: {
    /** The method of `guidance.source`, or of the start state. */
    readonly use: string;
    /** Whose words they are: a model's name, a field's, a file's. */
    readonly by?: string;
    /** Share of the help that was given. */
    readonly share?: number;
    /** Round of help in its group, from 0. */
    readonly round: number;
    /** What was asked in the place of the task's prompt. */
    readonly prompt?: string;
    /** Tokens put into the response, and as text. */
    readonly given?: number;
    readonly text?: string;
    /** It trains conditioned on the task's own prompt. */
    readonly stripped?: boolean;
    /** Share of its group that failed before. */
    readonly error_rate?: number;
    /** Success by share of help, as fitted: chance + (1 − chance) / (1 + exp(−slope (share − middle))). */
    readonly curve?: { readonly chance: number; readonly slope: number; readonly middle: number };
    /** Of its prefilled and its generated tokens, how many there are and how many train. */
    readonly trains?: Readonly<Record<ResponseOrigin, { readonly tokens: number; readonly trained: number }>>;
  };
  /** Of the step's rollouts that train the share that was helped, and of its plain ones the share that failed. */
  readonly mixture?: { readonly explored: number; readonly errors: number };
  /** What models read in addition to the prompt before they scored it, by what it is called. */
  readonly shown?: Readonly<Record<string, string>>;
  readonly rewards?: Readonly<Record<string, WireReward>>;
  readonly errors?: Readonly<Record<string, string>>;
  /** By term, its weight when the rollout was scored: `reward` has each term times this. */
  readonly weights?: Readonly<Record<string, WireNumber>>;
  /** By term, what it says of each criterion, where it judges by such. */
  readonly details?: Readonly<Record<string, TermDetails>>;
  /** By term, numbers that it gave next to its reward, by name. */
  readonly components?: Readonly<Record<string, Readonly<Record<string, WireNumber>>>>;
  readonly reward?: MaybeNumber;
  readonly advantage?: MaybeNumber;
  readonly admitted?: boolean;
  /** Of a step's first rollout: what the step's curriculum learned from more than its groups, for a replay of the history. */
  readonly curriculum?: unknown;
  /** By rule, the tokens [start, end) that it touched in some update of the step: those that a clip held, and so on. */
  readonly touched?: Readonly<Record<string, readonly (readonly [start: number, end: number])[]>>;
}

/**
 * Whether a line of some file is a rollout that was written to be measured or to try a task: nothing may train on it. A
 * `use` field of a dataset's own says nothing.
 */
export const isMeasured = (line: { readonly [key: string]: unknown }): boolean =>
  (line["use"] === "evaluate" || line["use"] === "estimate") && "step" in line && "group" in line;

/** NaN and infinities as their wire strings. */
export const toWire = (value: number): WireNumber =>
  Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";

/** The number that a wire value means; null becomes NaN. */
export const fromWire = (value: MaybeNumber): number => (value === null ? Number.NaN : Number(value));

/** A number as another writer has it in JSON: what is not finite as a word, and null what is no number. */
export const wireOf = (value: Json | undefined): MaybeNumber =>
  typeof value === "number"
    ? toWire(value)
    : value === "NaN" || value === "Infinity" || value === "-Infinity"
      ? value
      : null;

/** Where a row is, for messages. `line` is 0-based. */
export interface RowPlace {
  readonly file: string;
  readonly line: number;
}

const wireStrings = ["NaN", "Infinity", "-Infinity"];
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isMaybeNumber = (value: unknown): boolean =>
  value === null || typeof value === "number" || (typeof value === "string" && wireStrings.includes(value));

/** Writers of other systems emit bare NaN and Infinity, which are not JSON: outside of strings they become ours. */
const quoted = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  );

/** What a line says. @throws SyntaxError where it is no JSON otherwise, either, or is nested too deep */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = JSON.parse(quoted(text));
  }
  return shallow(value);
}

function parseLine(text: string, place: RowPlace): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw refusal(
      place,
      `not JSON: ${messageOf(error)}`,
      "Rollouts are one JSON object per line; a truncated last line can be removed.",
      error,
    );
  }
}

const refusal = (place: RowPlace, message: string, action: string, cause?: unknown): UserError =>
  new UserError(message, {
    ...place,
    character: 0,
    code: "rollout-row",
    action,
    ...(cause === undefined ? {} : { cause }),
  });

interface Entry {
  readonly ok: (value: unknown) => boolean;
  readonly what: string;
}
const isOrigin = (value: unknown): boolean => origins.some((word) => word === value);
const quotedOrigins = origins.map((word) => `"${word}"`);
const entries: Readonly<Partial<Record<TokenKey, Entry>>> = {
  tokens: { ok: Number.isInteger, what: "token ids" },
  origin: { ok: isOrigin, what: `${quotedOrigins.slice(0, -1).join(", ")} or ${quotedOrigins.at(-1)}` },
  mask: { ok: (value) => value === 0 || value === 1 || value === true || value === false, what: "0 or 1" },
  versions: { ok: (value) => value === null || Number.isInteger(value), what: "whole numbers or null" },
};
/** Of the other columns. */
const numberEntry: Entry = { ok: isMaybeNumber, what: "numbers or null" };

function checkTokenArrays(row: Readonly<Record<string, unknown>>, place: RowPlace): void {
  let first: { readonly key: string; readonly length: number } | undefined;
  for (const key of tokenKeys) {
    const values = row[key];
    if (values === undefined || values === null) continue;
    if (!Array.isArray(values))
      throw refusal(
        place,
        `"${key}" must be a list with one entry per token`,
        "Write a list, or leave the key out.",
      );
    const { ok, what } = entries[key] ?? numberEntry;
    const wrong = values.findIndex((value) => !ok(value));
    if (wrong >= 0)
      throw refusal(
        place,
        `"${key}" has ${JSON.stringify(values[wrong])} at index ${wrong}; its entries must be ${what}`,
        "Correct the row.",
      );
    if (first === undefined) first = { key, length: values.length };
    else if (first.length !== values.length) {
      throw refusal(
        place,
        `"${key}" has ${values.length} entries and "${first.key}" has ${first.length}: all per-token lists must have the same length`,
        "Every list covers every token after the first prompt; write null where a value does not exist.",
      );
    }
  }
}

function checkReward(name: string, value: unknown, place: RowPlace): void {
  if (isMaybeNumber(value)) return;
  const known =
    isObject(value) &&
    ["token", "step", "turn"].includes(String(value["level"])) &&
    Array.isArray(value["values"]) &&
    value["values"].every(isMaybeNumber);
  if (!known)
    throw refusal(
      place,
      `reward "${name}" is ${JSON.stringify(value)?.slice(0, 80)}`,
      'A reward is a number, null, or {"level": "token", "values": [numbers]}.',
    );
}

const isSpan = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every((end) => Number.isInteger(end) && end >= 0);

const isCriterion = (value: unknown): boolean =>
  isObject(value) &&
  typeof value["text"] === "string" &&
  typeof value["points"] === "number" &&
  (value["met"] === null || typeof value["met"] === "number");

function checkDetails(value: unknown, place: RowPlace): void {
  if (value === undefined || value === null) return;
  const known = (term: unknown): boolean =>
    isObject(term) && Array.isArray(term["criteria"]) && term["criteria"].every(isCriterion);
  if (!isObject(value) || !Object.values(value).every(known))
    throw refusal(
      place,
      '"details" must map each reward term to its criteria',
      'Write e.g. {"details": {"style": {"criteria": [{"text": "is polite", "points": 1, "met": 1}]}}}; `met` is a number from 0 to 1, or null.',
    );
}

/** Keys that hold lists of [start, end] by name, and what to say where they do not. */
const spanKeys = {
  spans: {
    message: '"spans" must map each name to a list of [start, end]',
    action: 'Write e.g. {"spans": {"executed": [[0, 12]]}}; positions count tokens from 0.',
  },
  touched: {
    message: '"touched" must map each rule to a list of [start, end] token positions',
    action: "Correct the row, or leave the key out.",
  },
} as const;

function checkSpans(key: keyof typeof spanKeys, value: unknown, place: RowPlace): void {
  if (value === undefined || value === null) return;
  const { message, action } = spanKeys[key];
  if (!isObject(value) || !Object.values(value).every((list) => Array.isArray(list) && list.every(isSpan)))
    throw refusal(place, message, action);
}

function checkFields(row: Readonly<Record<string, unknown>>, place: RowPlace): void {
  if (!Number.isInteger(row["step"]))
    throw refusal(
      place,
      `"step" must be a whole number, not ${JSON.stringify(row["step"])}`,
      "Every row names its step.",
    );
  if (typeof row["group"] !== "string" && !Number.isInteger(row["group"]))
    throw refusal(
      place,
      `"group" must be text, not ${JSON.stringify(row["group"])}`,
      "Every row names its group: the rollouts of one task in one step.",
    );
  if (!Number.isInteger(row["index"]))
    throw refusal(
      place,
      `"index" must be a whole number, not ${JSON.stringify(row["index"])}`,
      "Every row has its index in its group.",
    );
  for (const key of ["rewards", "errors", "weights", "task"])
    if (row[key] !== undefined && row[key] !== null && !isObject(row[key]))
      throw refusal(place, `"${key}" must be an object`, "Correct the row.");
  checkSpans("spans", row["spans"], place);
  checkDetails(row["details"], place);
  for (const key of ["reward", "advantage"])
    if (row[key] !== undefined && !isMaybeNumber(row[key]))
      throw refusal(
        place,
        `"${key}" must be a number or null, not ${JSON.stringify(row[key])}`,
        "Correct the row.",
      );
  if (row["admitted"] !== undefined && row["admitted"] !== null && typeof row["admitted"] !== "boolean")
    throw refusal(place, `"admitted" must be true or false`, "Correct the row.");
  checkSpans("touched", row["touched"], place);
  if (isObject(row["weights"]))
    for (const [name, value] of Object.entries(row["weights"]))
      if (value === null || !isMaybeNumber(value))
        throw refusal(place, `weight "${name}" is ${JSON.stringify(value)}`, "A weight is a number.");
  if (isObject(row["rewards"]))
    for (const [name, value] of Object.entries(row["rewards"])) checkReward(name, value, place);
}

/** Keys whose value is null are as good as absent. */
const withoutNulls = (row: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).filter(([key, value]) => value !== null || key === "reward" || key === "advantage"),
  );

/** What `parseRollout` has made sure of, as a type. */
function isRolloutRow(
  row: Readonly<Record<string, unknown>>,
  place: RowPlace,
): row is Readonly<Record<string, unknown>> & RolloutRow {
  checkFields(row, place);
  checkTokenArrays(row, place);
  return true;
}

/** One line of a rollouts file. Throws a UserError that names the line and what is wrong with it. */
export function parseRollout(text: string, place: RowPlace): RolloutRow {
  const value = parseLine(text, place);
  if (!isObject(value))
    throw refusal(place, "a line must be a JSON object", "Rollouts are one JSON object per line.");
  const row = withoutNulls(value);
  if (!isRolloutRow(row, place)) throw refusal(place, "not a rollout", "Correct the row.");
  return row;
}

/** One line of a rollouts file, without its line break: never a bare NaN. */
export const writeRollout = (row: RolloutRow): string =>
  JSON.stringify(row, (_key, value: unknown) => (typeof value === "number" ? toWire(value) : value));
