/** Answers to held-out tasks as a log of Inspect (`.eval`, version 2 as inspect_ai 0.3.285 writes it), for `inspect view` and its readers. */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { mean } from "../../../shared/lib/mean.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";

export interface InspectAbout {
  /** The config's name. */
  readonly task: string;
  /** The checkpoint. */
  readonly model: string;
  readonly started: Date;
  readonly ended: Date;
  /** Of Gradus. */
  readonly version: string;
}

/** @param rows a group is a sample of Inspect, and its answers are epochs @throws UserError where it cannot be written */
export async function writeInspectLog(
  file: string,
  rows: readonly RolloutRow[],
  about: InspectAbout,
): Promise<void> {
  const zip = new ZipFile();
  const failed = new Promise<never>((_, reject) => zip.on("error", reject));
  const add = (name: string, value: unknown): void => zip.addBuffer(Buffer.from(JSON.stringify(value)), name);
  const spec = specOf(rows, about);
  add("_journal/start.json", { version: 2, eval: spec, plan });
  const samples = rows.map((row) => sampleOf(row, about.model));
  for (const { id, epoch, ...sample } of samples)
    add(`samples/${encodeURIComponent(String(id))}_epoch_${String(epoch)}.json`, { id, epoch, ...sample });
  const summaries = samples.map(({ id, epoch, input, target, metadata, scores }) => ({
    ...{ id, epoch, input, target, metadata, scores },
    ...{ model_usage: {}, role_usage: {}, completed: true, message_count: 2 },
  }));
  add("_journal/summaries/1.json", summaries);
  add("summaries.json", summaries);
  add("header.json", {
    version: 2,
    status: "success",
    eval: spec,
    plan,
    results: { total_samples: rows.length, completed_samples: rows.length, scores: resultsOf(rows) },
    stats: { started_at: stamp(about.started), completed_at: stamp(about.ended), model_usage: {} },
  });
  zip.end();
  try {
    await Promise.race([pipeline(zip.outputStream, createWriteStream(file)), failed]);
  } catch (error) {
    throw new UserError(`the log of Inspect cannot be written: ${messageOf(error)}`, {
      file,
      code: "write",
      cause: error,
      action: "Name a file in a folder that exists and that you may write to.",
    });
  }
}

const plan = { name: "plan", steps: [], config: {} };
const stamp = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, "+00:00");

function specOf(rows: readonly RolloutRow[], { task, model, started, version }: InspectAbout): JsonObject {
  const samples = new Set(rows.map(({ group }) => group)).size;
  return {
    eval_id: "",
    run_id: "",
    created: stamp(started),
    task,
    task_id: "",
    task_version: 0,
    dataset: { name: task, samples },
    model: `gradus/${model}`,
    config: { epochs: Math.ceil(rows.length / Math.max(1, samples)) },
    packages: { gradus: version },
  };
}

function sampleOf(row: RolloutRow, model: string): JsonObject {
  const { group, index, task = {}, prompt = "", response = "", failed } = row;
  const said = { content: response, role: "assistant", source: "generate", model } as const;
  const answer = task.answer ?? task.data?.["answer"];
  return {
    id: group,
    epoch: index + 1,
    input: prompt,
    target: typeof answer === "string" ? answer : "",
    messages: [{ content: prompt, role: "user" }, said],
    output: {
      model,
      choices: [{ message: said, stop_reason: row.finish === "length" ? "max_tokens" : "stop" }],
      completion: response,
    },
    scores: Object.fromEntries(valuesOf(row).map(([term, value]) => [term, { value, answer: response }])),
    metadata: { ...task.data, arm: task.arm ?? "", greedy: index === 0 },
    ...(failed === undefined ? {} : { error: { message: failed, traceback: "", traceback_ansi: "" } }),
  };
}

/** Whole rewards by term: Inspect has no scores of tokens or turns. */
const valuesOf = ({ rewards = {} }: RolloutRow): (readonly [string, number])[] =>
  Object.entries(rewards).flatMap(([term, value]) => {
    if (value === null || typeof value === "object") return [];
    const number = fromWire(value);
    return Number.isFinite(number) ? [[term, number] as const] : [];
  });

function resultsOf(rows: readonly RolloutRow[]): readonly JsonObject[] {
  const byTerm = new Map<string, number[]>();
  for (const row of rows)
    for (const [term, value] of valuesOf(row)) byTerm.set(term, [...(byTerm.get(term) ?? []), value]);
  return [...byTerm].map(([term, values]) => ({
    name: term,
    scorer: term,
    params: {},
    metrics: { mean: { name: "mean", value: mean(values), params: {} } },
  }));
}
