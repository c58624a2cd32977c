/**
 * What a run log holds. A segment file is
 *   "GRADUSLG" | u32 version, then records  u32 length | u32 crc32(kind + payload) | u8 kind | payload
 * all little-endian; `length` is that of the payload. A payload is UTF-8 JSON of the record without its `kind`, or, for
 * rollouts, a JSON header, one NUL byte and the raw little-endian arrays in the order the header's `columns` lists them
 * as `{name, type: int32|float32|float64|uint8, length}`. A `placed` record has the same layout. Numbers that are not finite are the strings "NaN", "Infinity"
 * and "-Infinity". The records of a step end with `commit`; readers expose committed steps only. Several commits may
 * name one step; a step never spans two segments.
 */
import type { Criterion, Met } from "../rollouts/criteria.ts";
import type { Json, JsonObject } from "../lib/json.ts";
import type { RolloutRow } from "../rollouts/rollouts.ts";
import type { DumpTrainer, RunOrigin } from "../run/origin.ts";
import type { TaskResults } from "../run/taskResults.ts";
import type { LogColumn } from "../rollouts/columns.ts";

export const magic = "GRADUSLG";
export const logVersion = 1;
/** A segment is closed and the next started when it has grown past this many bytes. */
export const segmentBytes = 64 * 1024 * 1024;

/** Numbers are the format: never reuse one. */
export const kinds = {
  start: 1,
  metrics: 2,
  group: 3,
  rollout: 4,
  event: 5,
  evaluation: 6,
  checkpoint: 7,
  stage: 8,
  acknowledge: 9,
  end: 10,
  commit: 11,
  task: 12,
  criteria: 13,
  placed: 14,
} as const;
export type Kind = keyof typeof kinds;

/** The attempt's first record, in a commit of its own (step −1). */
export interface StartRecord {
  readonly kind: "start";
  readonly run: string;
  readonly attempt: number;
  /** Steps from here on replace those of earlier attempts, which stay, marked superseded. */
  readonly resumed_at: number | null;
  readonly name: string;
  readonly file: string;
  /** The config as its author wrote it, and as it resolved. */
  readonly authored: string;
  readonly config: JsonObject;
  readonly seed: number;
  readonly steps: number;
  readonly backend: { readonly name: string; readonly reason: string; readonly device: string };
  readonly git: { readonly commit: string; readonly dirty: boolean } | null;
  readonly version: string;
  readonly started_at: string;
  /** SHA-256 of each user reward's bundle, by term. */
  readonly bundles: Readonly<Record<string, string>>;
  /** Who made the run, where Gradus has not. */
  readonly origin?: RunOrigin;
}
export interface MetricsRecord {
  readonly kind: "metrics";
  readonly step: number;
  /** Milliseconds since 1970; of old logs see recordTime.ts. */
  readonly time: number;
  readonly values: Readonly<Record<string, number | "NaN" | "Infinity" | "-Infinity">>;
}
export interface GroupRecord {
  readonly kind: "group";
  readonly step: number;
  readonly group: string;
  readonly task: string;
  readonly arm: string;
  /** The set of arms that the arm belongs to, where arms are single tasks or points; absent where it is the arm itself. */
  readonly family?: string;
  readonly admitted: boolean;
  readonly reason: string | null;
  readonly successes: number;
  readonly size: number;
  readonly signal: number | null;
}
/** A rollout without its per-token arrays, which are columns: tokens, origin, mask, versions, logp_old, … */
export interface RolloutRecordLog {
  readonly kind: "rollout";
  readonly step: number;
  readonly index: number;
  readonly row: Omit<RolloutRow, LogColumn> & {
    /** `details` in short, by term: `of` is the `id` of a criteria record of the same commit, `met` is in its order. */
    readonly judged?: Readonly<Record<string, Judged>>;
  };
  readonly columns: Readonly<
    Partial<Record<LogColumn, Int32Array | Float32Array | Float64Array | Uint8Array>>
  >;
}
export interface Judged {
  readonly of: string;
  readonly met: readonly Met[];
}
/** What rollouts of this commit are scored by: once, however many they are. Equal criteria have equal ids in all of a run. */
export interface CriteriaRecord {
  readonly kind: "criteria";
  readonly step: number;
  readonly id: string;
  readonly criteria: readonly Criterion[];
}
export interface EventRecord {
  readonly kind: "event";
  readonly step: number;
  /** Milliseconds since 1970; of old logs see recordTime.ts. */
  readonly time: number;
  readonly severity: "info" | "warning" | "error";
  readonly name: string;
  readonly message: string;
  /** What to do about it. */
  readonly action?: string;
  readonly data?: Json;
}
export interface EvaluationRecord {
  readonly kind: "evaluation";
  readonly step: number;
  /** Milliseconds since 1970; of old logs see recordTime.ts. */
  readonly time: number;
  /** first: at the start of the first rl stage; last: at the end; matrix: of every stage's tasks, as one stage ended. */
  readonly role: "first" | "periodic" | "last" | "matrix";
  /** matrix: the stage that ended. */
  readonly stage?: string;
  readonly metrics: Readonly<Record<string, number>>;
  /** Task by task; earlier logs have none. */
  readonly results?: TaskResults;
}
interface CheckpointRecord {
  readonly kind: "checkpoint";
  readonly step: number;
  readonly path: string;
  readonly bytes: number;
  /** The evaluation that made it the run's best so far. */
  readonly best?: { readonly metric: string; readonly value: number };
}
interface StageRecord {
  readonly kind: "stage";
  readonly step: number;
  readonly index: number;
  readonly name: string;
  readonly stage_kind: string;
}
/** Answers a line of control.jsonl by its id. */
export interface AcknowledgeRecord {
  readonly kind: "acknowledge";
  readonly step: number;
  readonly id: string;
  readonly accepted: boolean;
  readonly message: string;
}
export interface EndRecord {
  readonly kind: "end";
  readonly step: number;
  readonly status: "finished" | "stopped" | "failed";
  readonly message: string;
  readonly seconds: number;
  readonly ended_at: string;
  /** Of a run that was imported while it was written: its rollouts, and the steps that have some. */
  readonly counted?: { readonly rollouts: number; readonly steps: number };
}
/** A task that the run has made of others, as it was taken in: it is here even if no rollout of it is ever kept. */
export interface TaskRecord {
  readonly kind: "task";
  readonly step: number;
  /** The task source that made it: a name of the config's `tasks`. */
  readonly source: string;
  readonly id: string;
  readonly prompt: string;
  readonly answer: string | null;
  /** Ids of tasks, made or not. */
  readonly parents: readonly string[];
  /** 1 for a child of a task that was not made. */
  readonly generation: number;
  readonly transform: string;
  readonly author: string;
  /** Where its answer comes from. */
  readonly answered: string;
  /** What came of the rollouts that tried it, where gates asked for them. */
  readonly tried: { readonly successes: number; readonly rollouts: number } | null;
}
/** The rollouts of a step that another trainer wrote. Their texts stay in its file: this says where, and by what they are known again. */
export interface PlacedRecord {
  readonly kind: "placed";
  readonly step: number;
  readonly trainer: DumpTrainer;
  /** Absolute. */
  readonly file: string;
  /** The same from the run's folder on: it counts where there is a file. */
  readonly relative: string;
  /** Bytes, and milliseconds since 1970. */
  readonly size: number;
  readonly mtime: number;
  /** Rollouts. */
  readonly count: number;
  /** CRC-32 of the whole file, where rollouts are no lines of it. */
  readonly crc?: number;
  /** Fields of the file that are rewards, the term each is, and its weight in the reward. */
  readonly terms: readonly { readonly field: string; readonly term: string; readonly weight: number }[];
  /** Rollouts of a group, where it is known; else it is found in the file. */
  readonly group?: number;
  /** The file has rollouts of an evaluation, all or some: none of them counts as trained on. */
  readonly use?: "evaluate";
  /** Of each line that is a rollout: its first byte, its bytes without the line break, their CRC-32 (its bits). */
  readonly columns: Readonly<Partial<PlacedColumns>>;
}
export interface PlacedColumns {
  readonly offset: Float64Array;
  readonly length: Int32Array;
  readonly crc: Int32Array;
}
interface CommitRecord {
  readonly kind: "commit";
  /** Global step, sft steps included, counted from 0 over the whole run; −1 closes what precedes the first step. */
  readonly step: number;
}
export type LogRecord =
  | StartRecord
  | MetricsRecord
  | GroupRecord
  | RolloutRecordLog
  | EventRecord
  | EvaluationRecord
  | CheckpointRecord
  | StageRecord
  | AcknowledgeRecord
  | EndRecord
  | TaskRecord
  | CriteriaRecord
  | PlacedRecord
  | CommitRecord;
