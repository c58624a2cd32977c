/**
 * Every request and notification that is not plain LSP. Plain descriptors: a name, types, and the zod schema by which
 * the daemon checks parameters at its boundary. Not `RequestType` objects: those of another copy of vscode-jsonrpc
 * are refused at run time ("Unknown parameter structure auto").
 */
import { z } from "zod";
import type { Json, JsonObject } from "./json.ts";
import type { RolloutRow } from "./rollouts.ts";
import type { RunStatus } from "./runStatus.ts";
import type { Why } from "./why.ts";

/** Grows when a change is not additive. */
export const protocolVersion = 1;

export interface Request<Params, Result, Input = Params> {
  readonly method: string;
  /** `Input` is what a caller writes (defaults left out), `Params` what the handler gets. */
  readonly params: z.ZodType<Params, Input>;
  /** Phantom: carries the result's type. */
  readonly result?: Result;
}
export interface Notification<Params> {
  readonly method: string;
  readonly params?: Params;
}
export type ParamsOf<R> = R extends { readonly params: z.ZodType<infer P> } ? P : never;
export type InputOf<R> = R extends { readonly params: z.ZodType<unknown, infer I> } ? I : never;
export type ResultOf<R> = R extends { readonly result?: infer T } ? Exclude<T, undefined> : never;

const request =
  <Result>() =>
  <Params, Input>(method: string, params: z.ZodType<Params, Input>): Request<Params, Result, Input> => ({
    method,
    params,
  });
const notification = <Params>(method: string): Notification<Params> => ({ method });

// ─────────────────────────────────────────────── the daemon

export type Role = "editor" | "command" | "language";
export interface HelloResult {
  readonly instance: string;
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  readonly store: string;
  readonly node: string;
  readonly live: number;
  readonly capabilities: readonly string[];
}
export const hello = request<HelloResult>()(
  "gradus/hello",
  z.object({
    token: z.string(),
    protocol: z.number().int(),
    version: z.string(),
    role: z.enum(["editor", "command", "language"]),
    pid: z.number().int(),
  }),
);
export interface DaemonStatus extends HelloResult {
  readonly startedAt: string;
  readonly clients: number;
  readonly socket: string;
  readonly log: string;
  readonly idleSeconds: number | null;
  readonly driver: string;
  readonly eventLoop: { readonly p50: number; readonly p99: number };
}
export const daemonStatus = request<DaemonStatus>()("gradus/daemon/status", z.object({}));
/** Refused with live runs unless `force`; runs themselves go on either way. */
export const daemonShutdown = request<{ readonly accepted: boolean; readonly reason?: string }>()(
  "gradus/daemon/shutdown",
  z.object({ force: z.boolean().default(false) }),
);

// ─────────────────────────────────────────────── runs

export { liveStatuses, type RunStatus } from "./runStatus.ts";

export interface RunSummary {
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly status: RunStatus;
  /** Why it is in that state, where there is something to say: the error of a failed run, the next action. */
  readonly message: string | null;
  readonly attempt: number;
  /** Last committed step, −1 before the first. */
  readonly step: number;
  readonly steps: number;
  readonly stage: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly backend: string | null;
  /** Last value of a few headline metrics: reward/total, eval/pass@1. */
  readonly headline: Readonly<Record<string, number>>;
  readonly first: Readonly<Record<string, number>> | null;
  readonly last: Readonly<Record<string, number>> | null;
}
export interface RunDetail extends RunSummary {
  readonly folder: string;
  readonly authored: string;
  readonly config: JsonObject;
  readonly git: { readonly commit: string; readonly dirty: boolean } | null;
  readonly checkpoints: readonly { readonly step: number; readonly path: string; readonly bytes: number }[];
  /** Of `checkpoint.best`; absent where the run keeps none. */
  readonly best?: {
    readonly step: number;
    readonly path: string;
    readonly metric: string;
    readonly value: number;
  };
  readonly attempts: readonly {
    readonly attempt: number;
    readonly startedAt: string;
    readonly resumedAt: number | null;
    readonly lastStep: number;
  }[];
  readonly stages: readonly { readonly step: number; readonly name: string; readonly kind: string }[];
  readonly backendReason: string | null;
}

const run = z.object({ run: z.string().min(1) });

export const runsStart = request<{ readonly run: string; readonly folder: string }>()(
  "gradus/runs/start",
  z.object({
    file: z.string(),
    set: z.array(z.string()).default([]),
    steps: z.number().int().positive().optional(),
    seed: z.number().int().optional(),
    /** Equal keys start one run: a repeated request after a lost answer is harmless. */
    key: z.string().optional(),
  }),
);
export const runsList = request<{ readonly runs: readonly RunSummary[] }>()(
  "gradus/runs/list",
  z.object({ limit: z.number().int().positive().default(200) }),
);
export const runsShow = request<RunDetail>()("gradus/runs/show", run);
const json: z.ZodType<Json, Json> = z.json();
export const runsControl = request<{ readonly id: string }>()(
  "gradus/runs/control",
  run.extend({
    action: z.enum(["stop", "pause", "continue", "checkpoint", "set"]),
    now: z.boolean().default(false),
    /** Of `set`: which value, as `--set` addresses it, and what it becomes. */
    path: z.string().optional(),
    value: json.optional(),
  }),
);
/** A new attempt of a run that is not live, from its last checkpoint. */
export const runsResume = request<{ readonly run: string; readonly attempt: number }>()(
  "gradus/runs/resume",
  run,
);
export const runsDelete = request<{ readonly deleted: boolean }>()("gradus/runs/delete", run);

// ─────────────────────────────────────────────── what runs have recorded

export interface Series {
  readonly metric: string;
  readonly steps: readonly number[];
  /** null where the value is not finite. */
  readonly values: readonly (number | null)[];
  /** Extremes of each bucket, present when the series was reduced to `maxPoints`. */
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
  readonly total: number;
}
export const metricsNames = request<{ readonly names: readonly string[] }>()("gradus/metrics/names", run);
export const metricsSeries = request<{ readonly series: readonly Series[]; readonly step: number }>()(
  "gradus/metrics/series",
  run.extend({
    metrics: z.array(z.string()).min(1),
    from: z.number().int().default(-1).describe("Only steps after this one."),
    to: z.number().int().optional(),
    maxPoints: z.number().int().positive().max(20_000).default(2_000),
  }),
);
export interface GroupRow {
  readonly step: number;
  readonly group: string;
  readonly task: string;
  readonly arm: string;
  readonly admitted: boolean;
  readonly reason: string | null;
  readonly successes: number;
  readonly size: number;
}
export const groupsQuery = request<{ readonly groups: readonly GroupRow[] }>()(
  "gradus/groups",
  run.extend({ step: z.number().int() }),
);
export const rolloutsQuery = request<{
  readonly rollouts: readonly RolloutRow[];
  readonly total: number;
  readonly next: string | null;
}>()(
  "gradus/rollouts",
  run.extend({
    step: z.number().int().optional(),
    /** e.g. `reward > 0.5 && finish == "length"`; see docs/protocol.md. */
    where: z.string().optional(),
    /** Per-token arrays too. */
    tokens: z.boolean().default(false),
    limit: z.number().int().positive().max(10_000).default(512),
    after: z.string().optional(),
  }),
);
/** Why a rollout that trains has its advantage, by the run's config as it stood at the step. */
export const rolloutsWhy = request<Why>()(
  "gradus/rollouts/why",
  run.extend({ step: z.number().int(), group: z.string(), index: z.number().int() }),
);
export interface EventRow {
  readonly run: string;
  readonly attempt: number;
  readonly step: number;
  readonly time: number;
  readonly severity: "info" | "warning" | "error";
  readonly name: string;
  readonly message: string;
  readonly action: string | null;
  readonly data: Json;
}
export const eventsQuery = request<{ readonly events: readonly EventRow[] }>()(
  "gradus/events",
  run.extend({ limit: z.number().int().positive().default(1_000) }),
);
export interface EvaluationRow {
  readonly step: number;
  readonly role: "first" | "periodic" | "last";
  readonly metrics: Readonly<Record<string, number>>;
}
export const evaluationsQuery = request<{ readonly evaluations: readonly EvaluationRow[] }>()(
  "gradus/evaluations",
  run,
);

// ─────────────────────────────────────────────── live changes

/** One append-only feed for every client: reload, sleep and a second window are the same code path. */
export interface Change {
  /** Grows by one with each change of the store. */
  readonly cursor: number;
  readonly run: string;
  readonly kind: "created" | "status" | "step" | "evaluation" | "event" | "checkpoint" | "deleted";
  readonly step: number;
  readonly summary: RunSummary | null;
  /** For `step`: the step's metrics. */
  readonly metrics?: Readonly<Record<string, number | null>>;
}
/** Answers with everything after `since`, or, where that is no longer known, `restart: true`: ask for all again. */
export const subscribe = request<{
  readonly cursor: number;
  readonly restart: boolean;
  readonly changes: readonly Change[];
}>()(
  "gradus/subscribe",
  z.object({ since: z.number().int().optional(), runs: z.array(z.string()).optional() }),
);
export const unsubscribe = request<Record<string, never>>()("gradus/unsubscribe", z.object({}));
/** At most ten a second. `restart`: this client was too slow, and what it missed is no longer known. */
export const changed = notification<{
  readonly cursor: number;
  readonly changes: readonly Change[];
  readonly restart?: boolean;
}>("gradus/changed");

// ─────────────────────────────────────────────── the editor's own needs

export interface ConfigLens {
  readonly uri: string;
  readonly line: number;
  readonly lastRun: RunSummary | null;
}
/** The last run of a config file, for its lens. */
export const configLens = request<ConfigLens>()("gradus/config/lens", z.object({ uri: z.string() }));

export const requests = {
  hello,
  daemonStatus,
  daemonShutdown,
  runsStart,
  runsList,
  runsShow,
  runsControl,
  runsResume,
  runsDelete,
  metricsNames,
  metricsSeries,
  groupsQuery,
  rolloutsQuery,
  rolloutsWhy,
  eventsQuery,
  evaluationsQuery,
  subscribe,
  unsubscribe,
  configLens,
} as const;
export const notifications = { changed } as const;

/** Error codes beside JSON-RPC's own. `data` carries `{ action }`: what the person can do. */
export const errorCodes = {
  badToken: -33001,
  wrongProtocol: -33002,
  unknownRun: -33003,
  refused: -33004,
  invalidConfig: -33005,
  storeFailed: -33006,
  busy: -33007,
} as const;
