/** What answers one question at a time and can be ended while it works: a thread, or a process. */

export type Heard<Answer> = (
  event:
    | { readonly kind: "ran"; readonly result: Answer; readonly spent: boolean }
    /** It waits for what is given to `reply`. */
    | { readonly kind: "asks"; readonly text: string }
    | { readonly kind: "ended"; readonly error?: NodeJS.ErrnoException },
) => void;

export interface Runner<Question, Answer> {
  heard: Heard<Answer>;
  /** It may end while nobody asks it anything. */
  readonly hasEnded: boolean;
  send(question: Question): void;
  /** @param text undefined: nobody asks any more */
  reply(text: string | undefined): void;
  /** Whether this process stays alive for it. */
  hold(isHeld: boolean): void;
  /** Absent: any. */
  suits?(question: Question): boolean;
  end(): Promise<void>;
}
