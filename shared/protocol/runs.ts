/** Runs: started, listed, controlled. */
import { z } from "zod";
import type { Json, JsonObject } from "../lib/json.ts";
import { mostCompared, type Comparison } from "../run/comparison.ts";
import type { BoundaryReport } from "../run/boundaryReport.ts";
import type { CourseReport } from "../run/forecastReport.ts";
import type { RunMarks } from "../run/marks.ts";
import type { RunOrigin } from "../run/origin.ts";
import { runIdSchema } from "../run/runId.ts";
import type { Verdict, VerdictBrief } from "../run/verdict.ts";
import type { RunWarning } from "../run/outcome.ts";
import type { RunStatus } from "./runStatus.ts";
import { request } from "./descriptor.ts";
import { path, run } from "./parameters.ts";

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
  /** Of a run that has ended: what is wrong with what it came to, the most serious first. Absent: nothing that its numbers tell. */
  readonly warnings?: readonly RunWarning[];
  /** What it comes to so far; absent before its first step. */
  readonly verdict?: VerdictBrief;
  /** Of a run that another trainer made and that was imported. */
  readonly origin?: RunOrigin;
  /** In what it differs from the first run of its config: "lr 3e-6 · seed 2". Absent: in nothing, or it is that run. */
  readonly label?: string;
  readonly seed?: number;
  /** The run that it was forked from, and the last step of the checkpoint that it began with. */
  readonly parent?: { readonly run: string; readonly step: number };
  /** What people say of it; absent: nothing. */
  readonly tags?: readonly string[];
  readonly note?: string;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  /** Where `sparks` were asked for: the course of reward/total. */
  readonly spark?: readonly number[];
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
  /** What computed it, in words: "CPU, 2 threads"; null: not known. */
  readonly device?: string | null;
  /** Where its log is damaged, what is missing for it, what to do; absent where it is whole. */
  readonly damaged?: readonly string[];
}

/** Runs that are forecast at once. */
export const mostForecast = 32;

/** How a host of ssh is reached. */
const reaching = z
  .strictObject({ GRADUS_SSH: z.string().optional(), SSH_AUTH_SOCK: z.string().optional() })
  .default({})
  .describe("How whoever asks reaches it; absent: as the daemon does.");

export const runsStart = request<{ readonly run: string; readonly folder: string }>()(
  "gradus/runs/start",
  z.object({
    file: path,
    set: z.array(z.string()).default([]),
    steps: z.number().int().positive().optional(),
    seed: z.number().int().optional(),
    /** The editor's Python, or the shell's: for rewards that name none. */
    python: z.string().optional(),
    /** Where the trainer that `engine.use` names trains; absent: this machine. */
    site: z
      .object({
        name: z.string().describe("A file of `sites/`, a path of such a file, a host of ssh, or `here`."),
        env: reaching,
        estimate: z
          .strictObject({ low: z.number(), high: z.number() })
          .optional()
          .describe("Seconds that it is expected to take."),
      })
      .optional(),
    /** Equal keys start one run: a repeated request after a lost answer is harmless. */
    key: z.string().optional(),
  }),
);
/** Follows a folder that another program writes to, as a run that is live until that program has ended. */
export const runsImport = request<{
  readonly run: string;
  readonly folder: string;
  readonly note: string | null;
}>()(
  "gradus/runs/import",
  z.object({
    /** Absolute: a folder, the file of a trackio project, or a log, which is read once. Of a site: absolute, or from the user's home there. */
    folder: path,
    /** Where the folder lies, if not here. */
    site: z
      .object({
        name: z.string().describe("A file of `sites/`, a path of such a file, a host of ssh, or `here`."),
        from: z.string().describe("Absolute: the folder from which `sites/` is looked for upwards."),
        env: reaching,
      })
      .optional(),
    name: z.string().optional(),
    /** Absolute, or `box:run.sh` for a folder of a site; null: none, absent: what lies near the folder. */
    config: path.nullable().optional(),
    set: z.array(z.string()).default([]),
    /** Of several runs in one file, which. */
    sourceRun: z.string().optional(),
  }),
);
export const runsList = request<{ readonly runs: readonly RunSummary[] }>()(
  "gradus/runs/list",
  z.object({
    limit: z.number().int().positive().default(200),
    where: z.string().max(10_000).optional().describe("Only runs that this expression holds for."),
    sort: z
      .string()
      .max(1_000)
      .optional()
      .describe("A name of the expressions' language; with `-` before it from the largest on."),
    sparks: z
      .number()
      .int()
      .positive()
      .max(200)
      .optional()
      .describe("Most values of each run's course of reward/total; default: none."),
  }),
);
/** A new run that begins with the nearest checkpoint at or before a step of another, and trains on by a config. */
export const runsFork = request<{
  readonly run: string;
  readonly folder: string;
  /** Last step of the checkpoint that it begins with. */
  readonly step: number;
}>()(
  "gradus/runs/fork",
  run.extend({
    step: z.number().int().optional().describe("Default: the last checkpoint."),
    /** Default: the config that the run kept. */
    file: path.optional(),
    fresh: z
      .boolean()
      .default(false)
      .describe("State of the checkpoint that no part of the config claims starts from zero."),
    set: z.array(z.string()).default([]),
    steps: z.number().int().positive().optional(),
    seed: z.number().int().optional(),
    python: z.string().optional(),
    key: z.string().optional(),
  }),
);
/** What could be deleted of a store. */
export interface Garbage {
  /** An archived run, a checkpoint that a later one replaces, one that was never finished. */
  readonly kind: "run" | "checkpoint" | "draft";
  readonly run: string;
  readonly step: number | null;
  readonly path: string;
  /** What deleting it frees: files that a fork links to free nothing. */
  readonly bytes: number;
}
/** Lists it, and deletes it where that is asked for. */
export const runsGc = request<{ readonly garbage: readonly Garbage[]; readonly deleted: boolean }>()(
  "gradus/runs/gc",
  z.object({
    olderThan: z
      .number()
      .nonnegative()
      .default(30 * 86_400)
      .describe("Archived runs that ended so many seconds ago."),
    keep: z.number().int().positive().default(1).describe("Newest checkpoints of each run that stay."),
    delete: z.boolean().default(false),
  }),
);
/** Tags, note, pin and archive of a run; what is left out stays. */
export const runsMark = request<RunMarks>()(
  "gradus/runs/mark",
  run.extend({
    tags: z.array(z.string().max(200)).max(100).optional(),
    note: z.string().max(100_000).optional(),
    pinned: z.boolean().optional(),
    archived: z.boolean().optional(),
  }),
);
/** Runs next to each other; the group of the first is what the others are compared with. */
export const runsCompare = request<Comparison>()(
  "gradus/runs/compare",
  z.object({
    runs: z.array(runIdSchema).min(1).max(mostCompared),
    metrics: z.array(z.string()).max(200).default([]),
    buckets: z
      .number()
      .int()
      .positive()
      .max(20_000)
      .default(500)
      .describe("Most steps or buckets of a series."),
  }),
);
const evaluation = run.extend({
  step: z.number().int().optional().describe("After which step; default: its last evaluation."),
});
/** Two evaluations that the store holds, task by task: what each solves within its samples, and where pass@k crosses. */
export const runsBoundary = request<BoundaryReport>()(
  "gradus/runs/boundary",
  z.object({ own: evaluation, other: evaluation.describe("What it is compared with.") }),
);
/** Where scores of runs are going, in their order; null: a run has too few values that differ. */
export const runsForecast = request<{
  readonly forecasts: readonly (CourseReport | null)[];
  /** Of each the chance that the first run ends higher; null: not known, or it is the first. */
  readonly firstEndsHigher: readonly (number | null)[];
}>()(
  "gradus/runs/forecast",
  z.object({
    runs: z.array(runIdSchema).min(1).max(mostForecast),
    metric: z.string().default("reward/total"),
    more: z
      .number()
      .int()
      .positive()
      .optional()
      .describe("Further steps to look ahead; default: as many as were made."),
  }),
);
export const runsShow = request<RunDetail>()("gradus/runs/show", run);
/** Whether it is learning, and if not, why; null before its first step. */
export const runsVerdict = request<{ readonly verdict: Verdict | null }>()(
  "gradus/runs/verdict",
  run.extend({
    to: z.number().int().optional().describe("Only steps up to this one; default: all."),
  }),
);
/** A person finds the verdict wrong, and says why; an empty reason takes that back. */
export const runsDismiss = request<{ readonly verdict: Verdict | null }>()(
  "gradus/runs/dismiss",
  run.extend({ reason: z.string() }),
);
const json: z.ZodType<Json, Json> = z.json();
export const runsControl = request<{ readonly id: string }>()(
  "gradus/runs/control",
  run.extend({
    action: z.enum(["stop", "pause", "continue", "checkpoint", "set"]),
    now: z.boolean().default(false),
    reason: z
      .string()
      .max(2_000)
      .optional()
      .describe("Of `stop`: why a program asks for it; the run keeps it as the event `stopped-early`."),
    /** Of `set`: which value, as `--set` addresses it, and what it becomes. */
    path: z.string().optional(),
    value: json.optional(),
  }),
);
/** A new attempt of a run that is not live, from its last checkpoint. */
export const runsResume = request<{ readonly run: string; readonly attempt: number }>()(
  "gradus/runs/resume",
  run.extend({ env: reaching.optional() }),
);
export const runsDelete = request<{ readonly deleted: boolean }>()("gradus/runs/delete", run);
