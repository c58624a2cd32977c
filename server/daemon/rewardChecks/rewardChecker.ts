/** The main thread's end of trying rewards: a thread for each request, checks one after the other. */
import { Worker } from "node:worker_threads";
import { UserError } from "../../../shared/lib/errors.ts";
import type {
  GoldCount,
  ResultOf,
  RewardFinding,
  curriculumTest,
  rewardPin,
  rewardTest,
} from "../../../shared/protocol/protocol.ts";
import type { JudgeReport } from "../../../shared/rollouts/judgeReport.ts";
import { threadFile } from "../../lib/threadFile.ts";
import { errorOf } from "../threadError.ts";
import { stop, type Attacked, type FromThread, type RewardTask } from "./wire.ts";

/** Milliseconds of a check. What was found by then is the answer. */
const checkWithin = 30_000;
/** Of an attack, in addition to the time that it was given: its first and last answers may be slow. */
const attackBeyond = 30_000;
/** Of tests: a few answers, after the processes have started, or some simulations. */
const testWithin = 60_000;
/** Of a judge: a server may take its time over each answer. */
const judgeWithin = 300_000;
/** In which a thread may end its processes. */
const grace = 1_000;

export interface Checked {
  readonly findings: readonly RewardFinding[];
  readonly notes: readonly string[];
}

interface Outcome extends Checked {
  readonly counts?: readonly GoldCount[];
  readonly attacked?: Attacked;
  readonly pinned?: ResultOf<typeof rewardPin>;
  readonly reported?: JudgeReport;
  readonly tested?: ResultOf<typeof rewardTest>;
  readonly simulated?: ResultOf<typeof curriculumTest>;
  readonly ended: "itself" | "stopped" | "late";
}

export class RewardChecker {
  /** The check of a config that waits or runs. */
  private readonly checks = new Map<string, AbortController>();
  private readonly all = new Set<AbortController>();
  private readonly threads = new Set<Promise<unknown>>();
  private before: Promise<unknown> = Promise.resolve();

  /** undefined: a later request of the same file took its place. @param python of rewards that name none */
  async check(task: RewardTask, python: string | undefined): Promise<Checked | undefined> {
    const outcome = await this.latest(task, python);
    if (outcome === undefined) return undefined;
    const { findings, notes, ended } = outcome;
    const late = `Not everything was checked within ${checkWithin / 1000} s: \`gradus reward FILE --gold --probe\` does it.`;
    return { findings, notes: ended === "late" ? [...notes, late] : notes };
  }

  /** undefined: a later request of the same file took its place, or there was not the time. */
  async gold(task: RewardTask, python: string | undefined): Promise<readonly GoldCount[] | undefined> {
    return (await this.latest(task, python))?.counts;
  }

  /** One after the other; of a file and a kind the last alone. */
  private async latest(task: RewardTask, python: string | undefined): Promise<Outcome | undefined> {
    const key = `${task.want.kind} ${task.file}`;
    this.checks.get(key)?.abort();
    const abort = new AbortController();
    this.checks.set(key, abort);
    const checked = this.before.then(() =>
      abort.signal.aborted ? undefined : this.run(task, python, abort, checkWithin),
    );
    this.before = checked.catch(() => undefined);
    try {
      const outcome = await checked;
      return outcome?.ended === "stopped" ? undefined : outcome;
    } finally {
      if (this.checks.get(key) === abort) this.checks.delete(key);
    }
  }

  /** undefined: it was stopped. @param signal stops it; then nothing is written */
  async attack(
    task: RewardTask,
    seconds: number,
    python: string | undefined,
    signal: AbortSignal,
  ): Promise<Attacked | undefined> {
    const abort = new AbortController();
    if (signal.aborted) return undefined;
    signal.addEventListener("abort", () => abort.abort(), { once: true });
    const { attacked, ended } = await this.run(task, python, abort, seconds * 1000 + attackBeyond);
    if (attacked === undefined && ended === "itself") throw new Error("the thread that tries rewards ended");
    return attacked;
  }

  async pin(task: RewardTask): Promise<ResultOf<typeof rewardPin>> {
    const { pinned } = await this.run(task, undefined, new AbortController(), testWithin);
    if (pinned === undefined) throw new Error("the thread that writes tests ended without an answer");
    return pinned;
  }

  /** @throws UserError where they take too long */
  async test(task: RewardTask, python: string | undefined): Promise<ResultOf<typeof rewardTest>> {
    const { tested } = await this.run(task, python, new AbortController(), testWithin);
    if (tested !== undefined) return tested;
    throw lateTests({ file: task.file, code: "reward-test-late" });
  }

  /** Runs tests of curricula. @throws UserError where they take too long */
  async simulate(files: readonly string[]): Promise<ResultOf<typeof curriculumTest>> {
    const [file = ""] = files;
    const task: RewardTask = { file, text: "", unsaved: {}, want: { kind: "simulate", files } };
    const { simulated } = await this.run(task, undefined, new AbortController(), testWithin);
    if (simulated !== undefined) return simulated;
    throw lateTests({ file, code: "curriculum-test-late" });
  }

  /** Asks a judge about labelled answers. @throws UserError where it takes too long */
  async judge(task: RewardTask, python: string | undefined): Promise<JudgeReport> {
    const { reported } = await this.run(task, python, new AbortController(), judgeWithin);
    if (reported !== undefined) return reported;
    throw new UserError(`The judge did not answer within ${judgeWithin / 60_000} minutes.`, {
      file: task.file,
      code: "judge-late",
      action: "Ask it in a terminal: gradus judge.",
    });
  }

  /** Ends everything that is under way. */
  async close(): Promise<void> {
    for (const abort of this.all) abort.abort();
    await Promise.allSettled(this.threads);
  }

  private async run(
    task: RewardTask,
    python: string | undefined,
    abort: AbortController,
    milliseconds: number,
  ): Promise<Outcome> {
    const thread = inThread(task, python, abort.signal, milliseconds);
    this.all.add(abort);
    this.threads.add(thread);
    try {
      return await thread;
    } finally {
      this.all.delete(abort);
      this.threads.delete(thread);
    }
  }
}

const lateTests = (detail: { readonly file: string; readonly code: string }): UserError =>
  new UserError(`The tests did not end within ${testWithin / 1000} s.`, {
    ...detail,
    action: "Run them in a terminal: gradus test.",
  });

function inThread(
  task: RewardTask,
  python: string | undefined,
  signal: AbortSignal,
  milliseconds: number,
): Promise<Outcome> {
  const worker = new Worker(threadFile("rewardThread.mjs", "The thread that tries rewards"), {
    name: "gradus-reward",
    workerData: task,
    env: python === undefined ? process.env : { ...process.env, GRADUS_PYTHON: python },
  });
  worker.unref();
  const findings: RewardFinding[] = [];
  const notes: string[] = [];
  let answer: Pick<Outcome, "counts" | "attacked" | "pinned" | "tested" | "simulated" | "reported"> = {};
  let ended: Outcome["ended"] = "itself";
  return new Promise<Outcome>((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    const end = (why: "stopped" | "late"): void => {
      if (ended !== "itself") return;
      ended = why;
      worker.postMessage(stop);
      patience = setTimeout(() => void worker.terminate(), grace);
    };
    const limit = setTimeout(() => end("late"), milliseconds);
    const stopped = (): void => end("stopped");
    signal.addEventListener("abort", stopped, { once: true });
    let failure: Error | undefined;
    worker.on("message", (message: FromThread) => {
      if (message.kind === "findings") findings.push(...message.findings);
      else if (message.kind === "note") notes.push(message.note);
      else if (message.kind !== "failed") answer = message;
      else failure = errorOf(message.error);
    });
    worker.once("error", (error) => (failure = error));
    worker.once("exit", () => {
      clearTimeout(limit);
      clearTimeout(patience);
      signal.removeEventListener("abort", stopped);
      if (failure !== undefined && ended === "itself") reject(failure);
      else resolve({ findings, notes, ...answer, ended });
    });
  });
}
