/**
 * Tasks to try a reward on where its data is not on this machine: those of recorded rollouts, else some that are made up
 * from the config's own templates. Only tasks that the reward can score are taken, so that what it says of them is true of it.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { shortFailure } from "../../../shared/rollouts/failureText.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody, TaskConfig } from "../../core/config/resolved.ts";
import { datasetOf } from "../../core/datasetLines.ts";
import { isObject } from "../../core/templates.ts";
import { withData } from "../imported/withData.ts";
import { recordOf } from "../recorded.ts";
import type { Answer, AnswerScorer, ScoredAnswer } from "./answers.ts";
import { onDataset, readTasks, spread, type CheckedTask, type ReadTasks } from "./checkedTasks.ts";
import { goldForms } from "./forms/goldForms.ts";

/** Rollouts of another time, and where they lie. */
export interface RecordedRollouts {
  readonly rows: readonly RolloutRow[];
  readonly from: string;
}

/** Where tasks come from. */
export type TasksFrom =
  | { readonly kind: "data" }
  | { readonly kind: "recorded"; readonly from: string }
  | { readonly kind: "made-up" };

export interface TasksToTry extends ReadTasks {
  readonly from: TasksFrom;
  /** What the reward failed with on every made-up task, where it did: the function, or what such tasks lack. */
  readonly failed?: string;
}

/** Whether the tasks are the config's own: gold needs them, other checks do with others. */
export const areOwn = ({ tasks, unread, from }: TasksToTry): boolean =>
  from.kind === "data" && (tasks.length > 0 || unread.length === 0);

/** Tasks of recorded rollouts that are tried. */
const most = 64;

/**
 * The config's own tasks; where none can be read, others that the reward can score. None at all: nothing can be said of it.
 * @param recorded called where the config's own are not here
 */
export async function tasksToTry(
  config: RunConfig,
  scorer: AnswerScorer,
  recorded: () => RecordedRollouts | undefined,
): Promise<TasksToTry> {
  const read = readTasks(config, scorer.body);
  if (read.tasks.length > 0 || read.unread.length === 0) return { ...read, from: { kind: "data" } };
  const { unread } = read;
  const found = recorded();
  const known = found === undefined ? [] : await ofRollouts(found.rows, scorer);
  if (found !== undefined && known.length > 0)
    return { tasks: known, unread, from: { kind: "recorded", from: found.from } };
  const { tasks, failed } = await madeUp(config, scorer);
  return {
    tasks,
    unread,
    from: { kind: tasks.length > 0 ? "made-up" : "data" },
    ...(failed !== undefined && { failed }),
  };
}

/** Of each task one rollout, which the reward must be able to score. */
async function ofRollouts(rows: readonly RolloutRow[], scorer: AnswerScorer): Promise<CheckedTask[]> {
  const { tasks } = scorer.body;
  const records = withData(
    rows.map((row) => recordOf(row, tasks)),
    tasks,
  );
  const answers = new Map(
    records.flatMap(({ task, response }): [string, Answer][] => {
      const source = sourceOf(task.source, tasks);
      return source === undefined
        ? []
        : [[`${task.prompt}\n${task.answer ?? ""}`, { task: { ...task, source }, response }]];
    }),
  );
  const scored = await scorer.sound(spread([...answers.values()], most));
  return scored.flatMap(({ task, errors, success }) =>
    success !== null && Object.keys(errors).length === 0 ? [{ task }] : [],
  );
}

/** Terms apply to sources of the config; what a trainer wrote names none, and is of the only one where there is one. */
const sourceOf = (source: string, tasks: readonly TaskConfig[]): string | undefined =>
  tasks.find(({ name }) => name === source)?.name ?? (tasks.length === 1 ? tasks[0]!.name : undefined);

/** Sums, as the field writes questions: text, or a message. */
const forms: readonly ((question: string) => Json)[] = [
  (question) => question,
  (question) => [{ role: "user", content: question }],
];
const sums = Array.from({ length: 16 }, (_, i) => [17 + 3 * i, 25 + 7 * i] as const);

/** Those that the reward gives a success for their answers; none where the config names no answer. */
async function madeUp(
  config: RunConfig,
  scorer: AnswerScorer,
): Promise<{ readonly tasks: readonly CheckedTask[]; readonly failed?: string | undefined }> {
  const { body } = scorer;
  const source = body.tasks.find((task) => datasetOf(task.source) !== undefined)?.source;
  const { prompt, answer } = source?.params ?? {};
  if (typeof prompt !== "string" || typeof answer !== "string") return { tasks: [] };
  let failed: string | undefined;
  for (const form of forms) {
    const rows = sums.map(([a, b]) =>
      rowFor(prompt, form(`What is ${a} + ${b}?`), rowFor(answer, String(a + b), {})),
    );
    const tasks = ofRows(config, body, rows);
    const answers = tasks.flatMap(({ task }) =>
      goldForms.flatMap((one): Answer[] => {
        const response = one.of(task);
        return response === undefined ? [] : [{ task, response }];
      }),
    );
    const scored = await scorer.sound(answers);
    const right = new Set(scored.flatMap(({ task, success }) => (success === true ? [task] : [])));
    if (right.size === tasks.length) return { tasks };
    failed = failureOfAll(scored);
  }
  return { tasks: [], failed };
}

/** The first failure, where each answer has one. */
function failureOfAll(scored: readonly ScoredAnswer[]): string | undefined {
  const failures = scored.map(({ errors }) => Object.entries(errors)[0]);
  const [first] = failures;
  if (first === undefined || failures.includes(undefined)) return undefined;
  return `\`${first[0]}\` fails (${shortFailure(first[1])})`;
}

/** The rows as the config's own data are read. */
function ofRows(config: RunConfig, body: StageBody, rows: readonly JsonObject[]): CheckedTask[] {
  const folder = mkdtempSync(join(tmpdir(), "gradus-tasks-"));
  try {
    const file = join(folder, "madeUp.jsonl");
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const made = onDataset(body, file);
    // They stand in no file that a person has.
    return made === undefined ? [] : readTasks(config, made).tasks.map(({ task }) => ({ task }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A row in which the template's fields hold a value. */
const rowFor = (template: string, value: Json, row: JsonObject): JsonObject =>
  [...template.matchAll(/\{([\w.-]+)\}/g)].reduce(
    (now, [, path = ""]) => withField(now, path.split("."), value),
    row,
  );

function withField(row: JsonObject, [key = "", ...rest]: readonly string[], value: Json): JsonObject {
  const below = row[key];
  return {
    ...row,
    [key]: rest.length === 0 ? value : withField(isObject(below) ? (below as JsonObject) : {}, rest, value),
  };
}
