/** One child process that runs a user's reward: started, asked one rollout at a time, killed when it takes too long. */
import { withBundleFile } from "../../../lib/own/bundleFile.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import { ScriptProcess } from "../../../lib/own/scriptProcess.ts";
import { isTermValue, type FromHost, type ToHost } from "./wire.ts";

/** Whether a message, which may be anything, is the answer to a question. */
function answers(question: ToHost, answer: FromHost): boolean {
  if (question.kind === "load") return answer.kind === "loaded" || answer.kind === "refused";
  if (question.kind === "reached") return answer.kind === "reached" && Array.isArray(answer.counts);
  return answer.kind === "scored" && answer.id === question.id && isTermValue(answer.value);
}

export class HostProcess extends ScriptProcess<ToHost, FromHost> {
  constructor(folder: string) {
    super(hostFile("rewardHost.mjs", process.env["GRADUS_REWARD_HOST"]), folder);
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
}
