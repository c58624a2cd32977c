/**
 * Every request and notification that is not plain LSP. Plain descriptors: a name, types, and the zod schema by which
 * the daemon checks parameters at its boundary. Not `RequestType` objects: those of another copy of vscode-jsonrpc
 * are refused at run time ("Unknown parameter structure auto").
 */
import { z } from "zod";
import type { Json, JsonObject } from "./json.ts";
import type { Rescored, Sweep } from "./rescore.ts";
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
/** What a question about a part of a run's steps may say: one step, or a first and a last. */
const stepRange = {
  step: z.number().int().optional(),
  from: z.number().int().optional(),
  to: z.number().int().optional(),
};
/** What lanes of the curriculum stand for. A family is a set of arms where arms are many: else the arm itself. */
const lane = z.enum(["arm", "task", "family"]);
export type Lane = z.output<typeof lane>;
export const groupsQuery = request<{ readonly groups: readonly GroupRow[] }>()(
  "gradus/groups",
  run.extend({
    ...stepRange,
    /** Only groups of these arms, tasks or families; empty: of all. */
    by: lane.default("arm"),
    names: z.array(z.string()).default([]),
    limit: z.number().int().positive().max(100_000).default(10_000),
  }),
);
/** What came of a number of groups. Tokens are those of their rollouts, as far as these have been read. */
export interface GroupTally {
  readonly groups: number;
  readonly admitted: number;
  /** Groups of which no rollout was right, and of which all were. */
  readonly dead: number;
  readonly exhausted: number;
  readonly successes: number;
  readonly rollouts: number;
  readonly tokens: number;
  readonly deadTokens: number;
  readonly exhaustedTokens: number;
  /** Groups whose rollouts have not been read yet: their tokens are not counted. */
  readonly unmeasured: number;
}
/** Where a task that the run has made comes from. */
export interface TaskOrigin {
  readonly source: string;
  /** Ids of tasks, made or not. */
  readonly parents: readonly string[];
  /** 1 for a child of a task that was not made. */
  readonly generation: number;
  readonly step: number;
  readonly transform: string;
  readonly author: string;
  /** Where its answer comes from. */
  readonly answered: string;
  /** What came of the rollouts that tried it before it was taken in. */
  readonly tried: { readonly successes: number; readonly rollouts: number } | null;
}
/** A task that the run has made. */
export interface MadeTask extends TaskOrigin {
  readonly id: string;
  readonly prompt: string;
  readonly answer: string | null;
  /** What came of it in training. */
  readonly seen: { readonly groups: number; readonly successes: number; readonly rollouts: number };
}
/** In the order in which they were made. */
export const tasksQuery = request<{ readonly tasks: readonly MadeTask[] }>()(
  "gradus/tasks",
  run.extend({
    source: z.string().optional().describe("Only tasks of this task source."),
    limit: z.number().int().positive().max(100_000).default(10_000).describe("The last so many."),
  }),
);
/** An arm, a family or a task over the steps. The arrays are as long as each other: one entry a column in which it was drawn. */
export interface CurriculumLane extends GroupTally {
  readonly name: string;
  /** Different tasks that were drawn of it. */
  readonly tasks: number;
  /** Where it is a single task that the run has made. */
  readonly made?: TaskOrigin;
  readonly columns: readonly number[];
  readonly drawn: readonly number[];
  readonly admittedIn: readonly number[];
  /** Share of right rollouts, 0 to 1; null where none was judged. */
  readonly rates: readonly (number | null)[];
}
export interface CurriculumOverview {
  readonly by: Lane;
  /** Only groups of this arm; null: of all. */
  readonly arm: string | null;
  /** Only groups of this family of arms; null: of all. */
  readonly family: string | null;
  readonly from: number;
  readonly to: number;
  /** Steps in a column; column i begins at step from + i · width. */
  readonly width: number;
  /** Most drawn first. */
  readonly lanes: readonly CurriculumLane[];
  /** Arms, families or tasks that are not among the lanes. */
  readonly more: number;
  readonly columns: readonly (GroupTally & { readonly column: number })[];
  /** Why groups were left out, most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly groups: number }[];
}
/** The groups of a run, counted by arm, family or task and by steps. */
export const curriculumQuery = request<CurriculumOverview>()(
  "gradus/curriculum",
  run.extend({
    by: z
      .enum([...lane.options, "auto"])
      .default("arm")
      .describe("auto: families, where arms have such, else arms."),
    arm: z.string().optional().describe("Only groups of this arm."),
    family: z.string().optional().describe("Only groups of arms of this family."),
    from: z.number().int().nonnegative().default(0),
    to: z.number().int().nonnegative().optional(),
    columns: z.number().int().positive().max(2_000).default(240),
    lanes: z.number().int().positive().max(500).default(40),
  }),
);
export const rolloutsQuery = request<{
  readonly rollouts: readonly RolloutRow[];
  readonly total: number;
  readonly next: string | null;
}>()(
  "gradus/rollouts",
  run.extend({
    ...stepRange,
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

/** What became of every stage's held-out tasks as one stage ended: `eval/<stage>/pass@k` (`evaluation.matrix`). */
export interface StageEnd {
  readonly step: number;
  /** The stage that ended. */
  readonly stage: string;
  readonly metrics: Readonly<Record<string, number>>;
}
export const matrixQuery = request<{ readonly ends: readonly StageEnd[] }>()("gradus/matrix", run);

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

/** An edit of a config's text. */
export interface StageSteps {
  readonly file: string;
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly newText: string;
}
/** How a stage of a run gets another number of steps in its config; refused where the text is not the run's any more. */
export const stageSteps = request<StageSteps>()(
  "gradus/config/stageSteps",
  run.extend({
    text: z.string(),
    stage: z.string(),
    /** As the run had it. */
    was: z.number().int().positive(),
    steps: z.number().int().positive(),
  }),
);

const edited = z.object({
  /** The config's file, as a path or a `file:` URI. */
  uri: z.string(),
  /** Its text as it stands in an editor; default: as it is on disk. */
  text: z.string().optional(),
  /** Texts of reward files that are open in an editor, by their paths. */
  unsaved: z.record(z.string(), z.string()).optional(),
  /** Whether functions of the workspace may be run: else their recorded values stand. */
  trusted: z.boolean().default(false),
});
/** What a config's edits would have changed over the rollouts of its last run; null where it has none. */
export const rescore = request<{ readonly rescored: Rescored | null }>()(
  "gradus/rescore",
  edited.extend({
    /** The last step only, or as many of the run's as two seconds allow. */
    scope: z.enum(["step", "run"]).default("step"),
  }),
);
/** What a term's weight would change, over a range: 0 to twice the weight, where none is given. */
export const rescoreSweep = request<{ readonly sweep: Sweep | null }>()(
  "gradus/rescore/sweep",
  edited.extend({ term: z.string(), from: z.number().optional(), to: z.number().optional() }),
);

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
  curriculumQuery,
  tasksQuery,
  rolloutsQuery,
  rolloutsWhy,
  eventsQuery,
  evaluationsQuery,
  matrixQuery,
  subscribe,
  unsubscribe,
  configLens,
  stageSteps,
  rescore,
  rescoreSweep,
} as const;

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
