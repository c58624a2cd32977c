/** What trainers ask, checked: an error names the key that is wrong. */
import { z } from "zod";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";

const step = z.number().int().nonnegative();
/** null: the rollout has none. */
const value = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]).nullable();

const drawSchema = z.strictObject({
  step,
  /** Groups; absent: as many as the config begins a step with. */
  prompts: z.number().int().positive().optional(),
  /** Counts the draws of a step, where rejected groups are replaced. */
  round: z.number().int().nonnegative().default(0),
});
export type DrawRequest = z.output<typeof drawSchema>;

const reportedSchema = z.strictObject({
  /** As the draw has named it. */
  task: z.string(),
  /** Of each rollout the whole reward; or by reward term what it said, before its weight. */
  rewards: z.union([z.array(value), z.record(z.string(), z.array(value))]),
  /** Mean over each rollout's trained tokens. */
  advantages: z.array(z.number()).optional(),
  /** Tokens. */
  lengths: z.array(z.number().nonnegative()).optional(),
  responses: z.array(z.string()).optional(),
});
export type Reported = z.output<typeof reportedSchema>;

const observeSchema = z.strictObject({
  step,
  groups: z.array(reportedSchema),
  /** The trainer's own number of the step, where its steps are others: kept with the decision. */
  trainer_step: z.number().int().nonnegative().optional(),
  /** Further metrics of the step, by Gradus's names: what a stage's `until` may wait for. */
  metrics: z.record(z.string(), z.number()).optional(),
});
export type ObserveRequest = z.output<typeof observeSchema>;

/** −1: before the first step. */
const restoreSchema = z.strictObject({ step: z.number().int().min(-1) });
export type RestoreRequest = z.output<typeof restoreSchema>;

const scoreSchema = z.strictObject({
  answers: z.array(
    z.object({
      /** As it was drawn; other keys are passed over. */
      task: z.object({
        id: z.string(),
        task: z.string().optional(),
        source: z.string().default(""),
        env: z.string().default(""),
        prompt: z.string(),
        answer: z.string().nullish(),
        data: z.record(z.string(), z.json()).default({}),
      }),
      response: z.string(),
    }),
  ),
});
export type ScoreRequest = z.output<typeof scoreSchema>;

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : `${at === 0 ? "" : "."}${String(part)}`))
    .join("");

const parsed =
  <Schema extends z.ZodType>(schema: Schema, form: string) =>
  (text: string): z.output<Schema> => {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (error) {
      throw new UserError(`the body is not JSON: ${messageOf(error)}`, {
        code: "service-json",
        action: form,
      });
    }
    const read = schema.safeParse(json);
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const path = pathText(issue?.path ?? []);
    const what = path === "" ? "the body" : JSON.stringify(path);
    throw new UserError(`${what}: ${issue?.message ?? "is wrong"}`, {
      code: "service-request",
      action: form,
    });
  };

/** @throws UserError that names the key */
export const readDraw = parsed(
  drawSchema,
  'Ask {"step": 0, "prompts": 8}; later rounds of a step add "round".',
);
export const readObserve = parsed(
  observeSchema,
  'Report {"step": 0, "groups": [{"task": id, "rewards": [1, 0]}]}, or rewards by term: {"correct": [1, 0]}.',
);
export const readScore = parsed(scoreSchema, 'Ask {"answers": [{"task": a drawn task, "response": "…"}]}.');
export const readRestore = parsed(restoreSchema, 'Ask {"step": 41}: the last step that is to count, or -1.');
