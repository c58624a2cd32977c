/**
 * What rules ask about datasets and models, for an editor: what takes long to read is read in a thread, and until then
 * nothing is known of it. The configs are checked again when it is.
 */
import { Worker } from "node:worker_threads";
import { lengthsWithin, readingOf } from "../analysis/datasetFacts.ts";
import type { DatasetAnswer, DatasetQuestion, PlainTask } from "../analysis/datasetThread.ts";
import { modelFacts, tokenReader } from "../analysis/modelFacts.ts";
import type { DatasetLook, ModelFacts, PromptLengths } from "../core/config/modelFacts.ts";
import type { TaskConfig } from "../core/config/resolved.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { findThread } from "../lib/threadFile.ts";

/** Bytes that are read at once: a few milliseconds. */
const quick = 32 * 1024;
/** Answers that are remembered. */
const most = 64;

const unread: DatasetLook = {
  rows: 0,
  repeated: 0,
  contradictory: { count: 0, first: [] },
  leaked: { count: 0, first: [] },
};

const plainTask = ({ name, source: { declaration, params, folder } }: TaskConfig): PlainTask => ({
  name,
  method: declaration.name,
  params: { ...params },
  folder,
});

export class BackgroundFacts {
  private readonly answers = new Map<string, DatasetAnswer>();
  /** Those of each document's last reading that have no answer yet. */
  private readonly waiting = new Map<string, DatasetQuestion[]>();
  private worker: Worker | undefined;
  private scheduled: NodeJS.Immediate | undefined;
  private readonly file = findThread("datasetThread.mjs");

  /**
   * @param known something that was not known is
   * @param failed a thread ended without an answer
   */
  constructor(
    private readonly known: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  /** For one reading of a document: what an earlier one of it asked no longer matters. */
  of(uri: string): ModelFacts {
    this.waiting.delete(uri);
    if (this.file === undefined) return modelFacts;
    return {
      ...modelFacts,
      prompts: (tasks) => this.prompts(uri, tasks),
      promptLengths: (config, task) => this.promptLengths(uri, config, task),
    };
  }

  forget(uri: string): void {
    this.waiting.delete(uri);
  }

  dispose(): void {
    clearImmediate(this.scheduled);
    this.waiting.clear();
    void this.worker?.terminate();
  }

  private prompts(uri: string, tasks: readonly TaskConfig[]): DatasetLook {
    const { key, bytes } = readingOf(tasks);
    if (bytes <= quick) return modelFacts.prompts(tasks);
    const answer = this.answers.get(key);
    if (answer !== undefined) return "look" in answer ? answer.look : unread;
    this.ask(uri, { kind: "look", key, tasks: tasks.map(plainTask) });
    return unread;
  }

  private promptLengths(uri: string, config: RunConfig, task: TaskConfig): PromptLengths | undefined {
    const { max_prompt: limit } = task.source.params;
    const reader = tokenReader(config);
    if (typeof limit !== "number" || reader === undefined) return undefined;
    const { key: data, bytes } = readingOf([task]);
    if (bytes === 0) return undefined;
    if (bytes <= quick && reader.kind === "characters") return modelFacts.promptLengths(config, task);
    const key = JSON.stringify([data, reader]);
    const answer = this.answers.get(key);
    if (answer === undefined) this.ask(uri, { kind: "counts", key, task: plainTask(task), reader });
    const counts = answer !== undefined && "counts" in answer ? answer.counts : undefined;
    return counts && lengthsWithin(counts, limit);
  }

  private ask(uri: string, question: DatasetQuestion): void {
    this.waiting.set(uri, [...(this.waiting.get(uri) ?? []), question]);
    // All questions of a reading go to the thread together.
    this.scheduled ??= setImmediate(() => this.start());
  }

  private start(): void {
    this.scheduled = undefined;
    if (this.worker !== undefined || this.file === undefined) return;
    const questions = [...new Map([...this.waiting.values()].flat().map((one) => [one.key, one])).values()];
    this.waiting.clear();
    if (questions.length === 0) return;
    const worker = new Worker(this.file, { workerData: questions, name: "gradus-datasets" });
    this.worker = worker;
    // The editor may leave meanwhile.
    worker.unref();
    worker.once("message", (answers: readonly DatasetAnswer[]) => {
      for (const answer of answers) this.remember(answer);
      this.known();
    });
    worker.once("error", (error: unknown) => {
      // Asked again, it would end the same way.
      for (const { key } of questions) this.remember({ key, counts: undefined });
      this.failed(error instanceof Error ? error : new Error(String(error)));
    });
    worker.once("exit", () => {
      this.worker = undefined;
      this.start();
    });
  }

  private remember(answer: DatasetAnswer): void {
    if (this.answers.size >= most) this.answers.clear();
    this.answers.set(answer.key, answer);
  }
}
