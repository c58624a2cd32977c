/** A program and its judge: each in a process of its own, of which the judge asks and the program answers, turn by turn. */
import type { Sandbox, SandboxProgram, SandboxResult } from "../../../lib/sandbox/sandbox.ts";

export interface Sandboxes {
  readonly programs: Sandbox;
  readonly judges: Sandbox;
}

export interface Judged {
  readonly program: SandboxResult;
  /** Absent: the program did not come so far that it could be judged. */
  readonly judge?: SandboxResult;
  /** The judge had no answer: the program had ended. */
  readonly isUnanswered: boolean;
  /** What the program told last of an error. */
  readonly error?: string;
}

/** Holds the words of one until the other takes them. */
class Turn {
  #take: ((text: string | undefined) => void) | undefined;
  #isOver = false;
  next(): Promise<string | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((resolve) => (this.#take = resolve));
  }
  give(text: string | undefined): void {
    const take = this.#take;
    this.#take = undefined;
    take?.(text);
  }
  end(): void {
    this.#isOver = true;
    this.give(undefined);
  }
}

export async function exchange(
  { programs, judges }: Sandboxes,
  program: SandboxProgram,
  judge: SandboxProgram,
  signal?: AbortSignal,
): Promise<Judged> {
  const [requests, replies] = [new Turn(), new Turn()];
  let judging: Promise<SandboxResult> | undefined;
  let isUnanswered = false;
  let error: string | undefined;
  const answer = async (request: string): Promise<string | undefined> => {
    const reply = replies.next();
    requests.give(request);
    const told = await reply;
    isUnanswered ||= told === undefined;
    if (told?.startsWith('["no"') === true) error = told;
    return told;
  };
  const ran = programs.run({ ...program, serve: true }, signal, (reply) => {
    const request = requests.next();
    if (judging === undefined) judging = judges.run(judge, signal, answer).finally(() => requests.end());
    else replies.give(reply);
    // Who aborts hears of it by the program.
    judging.catch(() => undefined);
    return request;
  });
  const result = await ran.finally(() => replies.end());
  const judgement = await judging;
  return {
    program: result,
    isUnanswered,
    ...(judgement && { judge: judgement }),
    ...(error !== undefined && { error }),
  };
}
