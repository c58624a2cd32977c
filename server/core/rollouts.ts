/** Rollouts as columns: typed arrays with row offsets, and a record a row; never an object per token. */
import type { Arm, Finish } from "./basics.ts";
import type { ColumnArray, ColumnWith } from "../../shared/rollouts/columns.ts";
import type { RolloutSource, RolloutUse } from "../../shared/rollouts/fields.ts";
import type { Task } from "./task.ts";
import type { GuidedRecord } from "./help.ts";
import type { Turn } from "./slots/turn.ts";

export type { RolloutSource, RolloutUse };

/** `origin` column values. Only `written` tokens train unless the config says otherwise; `observed` never do. */
export { origin } from "../../shared/rollouts/fields.ts";

/** What answered an episode's turns, and how often. */
export interface Played {
  /** An environment did. */
  readonly environment: boolean;
  /** Calls of tools, and those of them that could not be made. */
  readonly calls: number;
  readonly failed_calls: number;
  /** Numbers that the environment gave, by name, the last of each. */
  readonly components: Readonly<Record<string, number>>;
  /** Reward of turns that are in earlier rows of the same episode; absent: 0. */
  readonly earlier?: number;
  /** Tokens of earlier turns that the chat template dropped or wrote otherwise; absent: 0. */
  readonly rewritten?: number;
  /** Seconds that the episode waited for answers; NaN where it was not measured. Not logged. */
  readonly seconds: number;
}

/** What a row is, apart from its tokens. */
export interface RolloutRecord extends GuidedRecord {
  readonly task: Task;
  readonly arm: Arm;
  /** Group identity is (run, step, group). */
  readonly group: string;
  readonly index: number;
  readonly prompt: string;
  readonly response: string;
  readonly finish: Finish;
  readonly source: RolloutSource;
  readonly use: RolloutUse;
  readonly turns?: readonly Turn[];
  /** Attempts that the episode might have, where it might have several. */
  readonly tries?: number;
  /** Why the episode could not be played to its end: every reward term is an error of this row. */
  readonly failed?: string;
  /** Of an episode that an environment or tools answered. */
  readonly played?: Played;
  /**
   * Of an episode that became several rows because its conversation was written again: which it is, counted from 1. The
   * last is scored and counts for its group; the others have its advantage.
   */
  readonly part?: { readonly number: number; readonly of: number };
  /** Of a part with others after it: what was said after its last turn, which they were read after. In memory only. */
  readonly answered?: Omit<Turn, "start" | "end">;
  /** Token spans of reasoning steps within the row, [start, end). */
  readonly steps?: readonly (readonly [number, number])[];
  /** Token spans by a name, e.g. `executed` or `error`: whoever ran the response knows them, masks read them. */
  readonly spans?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  /** The sibling this row branched from, the token it branched at, and what it took over as text, where it is known. */
  readonly parent?: { readonly index: number; readonly token: number; readonly text?: string };
  readonly pair?: string;
  /** What models read in addition to its prompt before they scored it, by what it is called in `Batch.contexts`. */
  readonly shown?: Readonly<Record<string, string>>;
}

/** Whether a row is a part of an episode that went on in another row: it is not scored by itself. */
export const isEarlierPart = ({ part }: Pick<RolloutRecord, "part">): boolean =>
  part !== undefined && part.number < part.of;

/** Ragged integers: row `i` is `values.subarray(offsets[i], offsets[i + 1])`. */
export interface Ragged {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

/** Columns that may be absent; all per token, aligned with `Batch.tokens`. NaN (a version −1) where a value does not exist. */
export type TokenColumns = {
  readonly [Name in ColumnWith<{ per: "token"; batch: "column" }>]?: ColumnArray<Name>;
};

/** Columns that may be absent; one number per row, NaN where there is none. */
export type RowColumns = { readonly [Name in ColumnWith<{ per: "row" }>]?: ColumnArray<Name> };

export interface Batch {
  /** Number of rows (rollouts). */
  readonly rows: number;
  /** `rows + 1` offsets into every token column. */
  readonly offsets: Int32Array;
  readonly tokens: Int32Array;
  /** See `origin`. */
  readonly origin: Uint8Array;
  /** 1 where a token trains: what remains after the mask slot (default: written). */
  readonly mask: Uint8Array;
  readonly columns: TokenColumns;
  readonly rowColumns?: RowColumns;
  /** The token ids in front of each row when it was generated. */
  readonly context: Ragged;
  /** Replaces `context` in training, where present (guidance that is stripped). */
  readonly trainContext?: Ragged;
  /**
   * Other contexts of the rows, by a name: `<model>@<name>` is a model that reads the rows after these. A row that has
   * none of a name has its own there.
   */
  readonly contexts?: Readonly<Record<string, Ragged>>;
  /** Row → group number, 0-based and dense. Rows of a group need not be adjacent. */
  readonly group: Int32Array;
  readonly groups: number;
  /** Row → pair number, −1 where the row is in none. */
  readonly pair?: Int32Array;
  /** The weights' version at the start of this batch's updates: a token's staleness is `version − columns.versions[t]`. */
  readonly version?: number;
  readonly records: readonly RolloutRecord[];
}

/** A response, and whether it counts as a success. */
export interface Answered {
  readonly response: string;
  readonly right: boolean;
}

/** One group as curriculum signals and admission see it. */
export interface Group {
  readonly task: Task;
  readonly arm: Arm;
  /** The combined reward of each rollout that has one; errored rollouts are left out. */
  readonly rewards: Float64Array;
  /** Mean advantage over each rollout's trained tokens; empty before advantages are known. */
  readonly advantages: Float64Array;
  /** Of the rollouts in `rewards`, how many count as a success (`reward.success`). */
  readonly successes: number;
  /** Each rollout in `rewards`, without text where none was written: in a history, in a simulation. Absent: unknown. */
  readonly answers?: readonly Answered[];
  readonly lengths: Float64Array;
}
