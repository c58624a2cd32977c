/** Runs: started, listed, controlled. */
import { z } from "zod";
import type { Json, JsonObject } from "../lib/json.ts";
import type { RunOrigin } from "../run/origin.ts";
import type { Verdict, VerdictBrief } from "../run/verdict.ts";
import type { RunWarning } from "../run/outcome.ts";
import type { RunStatus } from "./runStatus.ts";
import { request } from "./descriptor.ts";
import { run } from "./parameters.ts";

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
  /** Where its log is damaged, what is missing for it, what to do; absent where it is whole. */
  readonly damaged?: readonly string[];
}

export const runsStart = request<{ readonly run: string; readonly folder: string }>()(
  "gradus/runs/start",
  z.object({
    file: z.string(),
    set: z.array(z.string()).default([]),
    steps: z.number().int().positive().optional(),
    seed: z.number().int().optional(),
    /** The editor's Python, or the shell's: for rewards that name none. */
    python: z.string().optional(),
    /** Equal keys start one run: a repeated request after a lost answer is harmless. */
    key: z.string().optional(),
  }),
);
export const runsList = request<{ readonly runs: readonly RunSummary[] }>()(
  "gradus/runs/list",
  z.object({ limit: z.number().int().positive().default(200) }),
);
export const runsShow = request<RunDetail>()("gradus/runs/show", run);
/** Whether it is learning, and if not, why; null before its first step. */
export const runsVerdict = request<{ readonly verdict: Verdict | null }>()(
  "gradus/runs/verdict",
  run.extend({
    to: z.number().int().optional().describe("Only steps up to this one; default: all."),
  }),
);
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
