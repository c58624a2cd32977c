/** One thread or process at a time: it is ended and begun again where a question leaves it no other way. */
import type { Runner } from "./runner.ts";

/** Seconds that a question may overstay before its runner is ended: it ends by itself where it can. */
const grace = 0.5;

interface Ask {
  /** That it may take. */
  readonly seconds: number;
}

export interface LaneOptions<Question extends Ask, Answer> {
  /** A runner that is ready. */
  begin(): Promise<Runner<Question, Answer>>;
  /** What a question has come to whose runner was ended, or ended. @param took seconds */
  lost(question: Question, why: "timeout" | "ended", took: number, error?: NodeJS.ErrnoException): Answer;
}

/** What the runner is told that asks in the middle of its work. */
export type Reply = (text: string) => Promise<string | undefined>;

export interface More {
  readonly signal?: AbortSignal | undefined;
  readonly reply?: Reply | undefined;
}

export class Lane<Question extends Ask, Answer> {
  #runner: Promise<Runner<Question, Answer>> | undefined;
  constructor(private readonly options: LaneOptions<Question, Answer>) {}

  async run(question: Question, more: More = {}): Promise<Answer> {
    const runner = await this.#ready(question);
    more.signal?.throwIfAborted();
    runner.hold(true);
    try {
      return await this.#asked(runner, question, more);
    } finally {
      runner.hold(false);
    }
  }

  async #ready(question: Question): Promise<Runner<Question, Answer>> {
    this.#runner ??= this.options.begin();
    const runner = await this.#runner.catch((error: unknown) => {
      this.#runner = undefined;
      throw error;
    });
    if (!runner.hasEnded && runner.suits?.(question) !== false) return runner;
    if (!runner.hasEnded) void runner.end();
    this.#runner = this.options.begin();
    return this.#runner;
  }

  #asked(runner: Runner<Question, Answer>, question: Question, { signal, reply }: More): Promise<Answer> {
    const at = performance.now();
    const limit = stopwatch((question.seconds + grace) * 1000);
    return new Promise((resolve, reject) => {
      const over = (isLost: boolean): void => {
        limit.stop();
        signal?.removeEventListener("abort", aborted);
        runner.heard = () => undefined;
        if (isLost) this.#restart(runner);
      };
      const lose = (why: "timeout" | "ended", error?: NodeJS.ErrnoException): void => {
        over(true);
        resolve(this.options.lost(question, why, (performance.now() - at) / 1000, error));
      };
      const fail = (error: unknown): void => {
        over(true);
        reject(error instanceof Error ? error : new Error("aborted"));
      };
      const aborted = (): void => fail(signal?.reason);
      signal?.addEventListener("abort", aborted, { once: true });
      const heard: typeof runner.heard = (event) => {
        if (event.kind === "ended") lose("ended", event.error);
        if (event.kind === "asks") answer(event.text);
        if (event.kind !== "ran") return;
        over(event.spent);
        resolve(event.result);
      };
      const answer = (text: string): void => {
        limit.stop();
        (reply?.(text) ?? Promise.resolve(undefined)).then((words) => {
          if (runner.heard !== heard) return;
          limit.go(() => lose("timeout"));
          runner.reply(words);
        }, fail);
      };
      runner.heard = heard;
      limit.go(() => lose("timeout"));
      runner.send(question);
    });
  }

  /** Begun at once: the next question waits less. */
  #restart(runner: Runner<Question, Answer>): void {
    this.#runner = this.options.begin();
    // Who waits for it hears of a failure.
    this.#runner.catch(() => undefined);
    void runner.end();
  }

  async close(): Promise<void> {
    const runner = await this.#runner?.catch(() => undefined);
    this.#runner = undefined;
    if (runner === undefined) return;
    runner.heard = () => undefined;
    await runner.end();
  }
}

/** A limit of time that can be halted: what its owner waits for others is no time of its own. */
function stopwatch(ms: number): { go(then: () => void): void; stop(): void } {
  let left = ms;
  let begun = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    go(then) {
      begun = performance.now();
      timer = setTimeout(then, Math.max(1, left));
    },
    stop() {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      left -= performance.now() - begun;
    },
  };
}
