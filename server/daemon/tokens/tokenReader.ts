/** The main thread's end of reading tokens: a thread that is started when first asked, and ends when it has rested. */
import { Worker } from "node:worker_threads";
import type { ParamsOf, RolloutTokens, rolloutsTokens } from "../../../shared/protocol/protocol.ts";
import { threadFile } from "../../lib/threadFile.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { errorOf } from "../threadError.ts";
import type { TokensAnswer, TokensTask } from "./tokensThread.ts";

/** Milliseconds after which a thread that is not asked ends: a tokenizer may take a hundred megabytes. */
const rest = 120_000;

interface Waiting {
  readonly resolve: (tokens: RolloutTokens) => void;
  readonly reject: (error: Error) => void;
}

export class TokenReader {
  private worker: Worker | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;

  constructor(private readonly remote: Pick<RemoteStore, "call">) {}

  async read({ run, from, to, ...which }: ParamsOf<typeof rolloutsTokens>): Promise<RolloutTokens> {
    const [{ folder, authored }, record] = await Promise.all([
      this.remote.call("show", { run }),
      this.remote.call("rolloutColumns", run, which),
    ]);
    const id = this.next++;
    const worker = this.thread();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, folder, authored, record, from, to } satisfies TokensTask);
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.worker?.terminate();
  }

  private thread(): Worker {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.close(), rest);
    this.timer.unref();
    if (this.worker !== undefined) return this.worker;
    const worker = new Worker(threadFile("tokensThread.mjs", "The thread that reads tokens"), {
      name: "gradus-tokens",
    });
    worker.unref();
    worker.on("message", (answer: TokensAnswer) => {
      const waiting = this.waiting.get(answer.id);
      this.waiting.delete(answer.id);
      if ("tokens" in answer) waiting?.resolve(answer.tokens);
      else waiting?.reject(errorOf(answer.error));
    });
    let failure = new Error("the thread that reads tokens ended without an answer");
    worker.on("error", (error) => (failure = error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => {
      if (this.worker === worker) this.worker = undefined;
      for (const { reject } of this.waiting.values()) reject(failure);
      this.waiting.clear();
    });
    return (this.worker = worker);
  }
}
