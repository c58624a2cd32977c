/** One thread at a time: it is ended and begun again where a question leaves it no other way. */
import type { Thread } from "./thread.ts";

/** Seconds that a question may overstay before its thread is ended: it ends by itself where it can. */
const grace = 0.5;

interface Ask {
  /** That it may take. */
  readonly seconds: number;
}

export interface LaneOptions<Question extends Ask, Answer> {
  /** A thread that is ready. */
  begin(): Promise<Thread<Answer>>;
  /** What a question has come to whose thread was ended, or ended. @param took seconds */
  lost(question: Question, why: "timeout" | "ended", took: number, error?: NodeJS.ErrnoException): Answer;
}

export class Lane<Question extends Ask, Answer> {
  #thread: Promise<Thread<Answer>> | undefined;
  constructor(private readonly options: LaneOptions<Question, Answer>) {}

  async run(question: Question, signal?: AbortSignal): Promise<Answer> {
    const thread = await this.#ready();
    signal?.throwIfAborted();
    thread.worker.ref();
    try {
      return await this.#asked(thread, question, signal);
    } finally {
      thread.worker.unref();
    }
  }

  async #ready(): Promise<Thread<Answer>> {
    this.#thread ??= this.options.begin();
    const thread = await this.#thread.catch((error: unknown) => {
      this.#thread = undefined;
      throw error;
    });
    if (!thread.hasEnded) return thread;
    this.#thread = this.options.begin();
    return this.#thread;
  }

  #asked(thread: Thread<Answer>, question: Question, signal?: AbortSignal): Promise<Answer> {
    const at = performance.now();
    return new Promise((resolve, reject) => {
      const over = (isLost: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        thread.heard = () => undefined;
        if (isLost) this.#restart(thread);
      };
      const lose = (why: "timeout" | "ended", error?: NodeJS.ErrnoException): void => {
        over(true);
        resolve(this.options.lost(question, why, (performance.now() - at) / 1000, error));
      };
      const aborted = (): void => {
        over(true);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      const timer = setTimeout(() => lose("timeout"), (question.seconds + grace) * 1000);
      signal?.addEventListener("abort", aborted, { once: true });
      thread.heard = (event) => {
        if (event.kind === "ended") lose("ended", event.error);
        if (event.kind !== "ran") return;
        over(event.spent);
        resolve(event.result);
      };
      thread.worker.postMessage(question);
    });
  }

  /** Begun at once: the next question waits less. */
  #restart(thread: Thread<Answer>): void {
    this.#thread = this.options.begin();
    // Who waits for it hears of a failure.
    this.#thread.catch(() => undefined);
    void thread.worker.terminate();
  }

  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    this.#thread = undefined;
    if (thread === undefined) return;
    thread.heard = () => undefined;
    await thread.worker.terminate();
  }
}
