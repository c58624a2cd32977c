/** What each record but a rollout (codec.ts) must hold to be stored: a log may come from another program, so its reader checks. */
import { writers } from "../run/origin.ts";
import { z } from "zod";
import type { Kind, LogRecord, RolloutRecordLog } from "./records.ts";

const step = z.number().int();
const wire = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]);
const text = z.string();
/** Unknown keys are kept: a later writer may add some. */
const schemas = {
  start: z.looseObject({
    run: text,
    attempt: z.number().int().nonnegative(),
    resumed_at: step.nullable(),
    name: text,
    file: text,
    authored: text,
    config: z.record(text, z.unknown()),
    seed: z.number(),
    steps: z.number(),
    backend: z.looseObject({ name: text, reason: text, device: text }),
    git: z.looseObject({ commit: text, dirty: z.boolean() }).nullable(),
    version: text,
    started_at: text,
    bundles: z.record(text, text),
    origin: z
      .looseObject({
        trainer: z.enum(writers),
        version: text.nullable(),
        folder: text,
        rollouts: z.number(),
        steps: z.number(),
        groups: z.enum(["uid", "prompt", "neighbours", "recorded", "none"]),
        advantages: text.nullable(),
        copied: z.boolean(),
      })
      .optional(),
  }),
  metrics: z.looseObject({ step, time: z.number(), values: z.record(text, wire) }),
  group: z.looseObject({
    step,
    group: text,
    task: text,
    arm: text,
    family: text.optional(),
    admitted: z.boolean(),
    reason: text.nullable(),
    successes: z.number(),
    size: z.number(),
    signal: wire.nullable(),
  }),
  event: z.looseObject({
    step,
    time: z.number(),
    severity: z.enum(["info", "warning", "error"]),
    name: text,
    message: text,
    action: text.optional(),
  }),
  evaluation: z.looseObject({
    step,
    time: z.number(),
    role: z.enum(["first", "periodic", "last", "matrix"]),
    stage: text.optional(),
    metrics: z.record(text, wire),
    results: z
      .looseObject({
        tasks: z.array(text),
        arms: z.array(text),
        samples: z.array(z.number()),
        right: z.array(z.number()),
        greedy: z.array(z.number().nullable()),
        gold: z.record(text, z.array(z.number().nullable())).optional(),
      })
      .optional(),
  }),
  checkpoint: z.looseObject({ step, path: text, bytes: z.number() }),
  stage: z.looseObject({ step, index: z.number().int(), name: text, stage_kind: text }),
  acknowledge: z.looseObject({ step, id: text, accepted: z.boolean(), message: text }),
  end: z.looseObject({
    step,
    status: z.enum(["finished", "stopped", "failed"]),
    message: text,
    seconds: z.number(),
    ended_at: text,
    counted: z.looseObject({ rollouts: z.number(), steps: z.number() }).optional(),
  }),
  task: z.looseObject({
    step,
    source: text,
    id: text,
    prompt: text,
    answer: text.nullable(),
    parents: z.array(text),
    generation: z.number().int(),
    transform: text,
    author: text,
    answered: text,
    tried: z.looseObject({ successes: z.number(), rollouts: z.number() }).nullable(),
  }),
  criteria: z.looseObject({
    step,
    id: text,
    criteria: z.array(
      z.looseObject({ name: text.optional(), text, points: z.number(), veto: z.boolean().optional() }),
    ),
  }),
  placed: z.looseObject({
    step,
    trainer: z.enum(["verl", "trl"]),
    file: text,
    relative: text,
    size: z.number(),
    mtime: z.number(),
    count: z.number().int().nonnegative(),
    crc: z.number().optional(),
    terms: z.array(z.looseObject({ field: text, term: text, weight: z.number() })),
    group: z.number().int().positive().optional(),
    use: z.literal("evaluate").optional(),
  }),
  commit: z.looseObject({ step }),
} satisfies Record<Exclude<Kind, "rollout">, z.ZodType>;

type Checked = Exclude<LogRecord, RolloutRecordLog>;

const isRecord = (value: Record<string, unknown>): value is Record<string, unknown> & Checked =>
  check(value) === null;

function check(value: Record<string, unknown>): string | null {
  const kind = value["kind"];
  const schema = Object.entries(schemas).find(([name]) => name === kind)?.[1];
  if (schema === undefined) return "unknown kind";
  const result = schema.safeParse(value);
  if (result.success) return null;
  const issue = result.error.issues[0];
  return issue === undefined ? "invalid" : `${issue.path.join(".")}: ${issue.message}`;
}

export function conforms(
  value: Record<string, unknown>,
): { readonly ok: true; readonly record: Checked } | { readonly ok: false; readonly reason: string } {
  return isRecord(value) ? { ok: true, record: value } : { ok: false, reason: check(value) ?? "invalid" };
}
