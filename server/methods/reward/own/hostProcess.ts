/** One child process that runs a user's reward: started, asked one rollout at a time, killed when it takes too long. */
import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { withBundleFile } from "../../../lib/own/bundleFile.ts";
import { hostFile, OwnProcess } from "../../../lib/own/ownProcess.ts";
import { markName } from "../../../lib/own/processGroup.ts";
import { isTermValue, type FromHost, type ToHost } from "./wire.ts";

/** Whether a message, which may be anything, is the answer to a question. */
function answers(question: ToHost, answer: FromHost): boolean {
  if (question.kind === "load") return answer.kind === "loaded" || answer.kind === "refused";
  if (question.kind === "reached") return answer.kind === "reached" && Array.isArray(answer.counts);
  return answer.kind === "scored" && answer.id === question.id && isTermValue(answer.value);
}

export class HostProcess extends OwnProcess<ToHost, FromHost> {
  constructor(folder: string) {
    const mark = randomUUID();
    super(started(folder, mark), mark);
    this.child.on("message", (message: FromHost | null) => {
      if (typeof message === "object" && message !== null) this.hear(message);
    });
    // An ending process closes its channel first, and how it ended says more.
    this.child.on(
      "disconnect",
      () => void setTimeout(() => this.end("the process closed its channel"), 500).unref(),
    );
  }

  /**
   * Loads a function into the process.
   * @param cover whether the bundle is a covered one
   */
  load(text: string, name: string, seconds: number, cover = false): Promise<FromHost> {
    const more = cover ? ({ cover } as const) : {};
    return withBundleFile(text, (bundle) =>
      this.ask({ kind: "load", bundle, export: name, ...more }, seconds),
    );
  }

  /** One question, one answer. After a NoAnswer the process is dead. */
  async ask(question: ToHost, seconds: number, signal?: AbortSignal): Promise<FromHost> {
    const answer: FromHost[] = [];
    await this.converse(question, seconds, signal, (message) => {
      if (!answers(question, message)) return "other";
      answer.push(message);
      return "last";
    });
    return answer[0]!;
  }

  protected send(question: ToHost): void {
    this.child.send(question, (error) => {
      if (error !== null) this.end(`could not be called: ${error.message}`);
    });
  }
}

const started = (folder: string, mark: string): ChildProcess =>
  fork(hostFile("rewardHost.mjs", process.env["GRADUS_REWARD_HOST"]), [], {
    cwd: folder,
    serialization: "advanced",
    execArgv: ["--enable-source-maps"],
    // A group of its own, so that what the user's code starts ends with it.
    detached: process.platform !== "win32",
    env: { ...process.env, [markName]: mark },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
