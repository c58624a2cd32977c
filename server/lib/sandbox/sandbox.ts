/** Programs that a model wrote, run where they reach no file, no network and no process: in WebAssembly, in processes of their own. */

export type SandboxLanguage = "javascript" | "python";

export interface SandboxProgram {
  readonly language: SandboxLanguage;
  readonly code: string;
  /** What it reads as its standard input. */
  readonly stdin?: string;
  /** Seconds that it may take. */
  readonly seconds: number;
  /** MiB that it may hold, the interpreter's own (about 30 of Python, 2 of JavaScript) included. */
  readonly memory: number;
  /** Whether to say which lines ran: Python only. */
  readonly lines?: boolean;
  /** Python only: what the last statement is worth, where it is an expression, comes as `value`, as `repr` writes it. */
  readonly value?: boolean;
  /** Once it has run, its state answers what is asked of its names: see `judged`. */
  readonly serve?: boolean;
}

/**
 * Why a program did not come to its end. exception: it threw, or left with a code other than 0; timeout, memory: it was
 * ended; refused: it asked for a file, the network or a process, which there are none of; output: it printed too much.
 */
export interface SandboxFailure {
  readonly kind: "exception" | "timeout" | "memory" | "refused" | "output";
  readonly message: string;
  /** The exception's name, e.g. `SyntaxError`. */
  readonly name?: string;
  /** Line of the program, from 1, that it was thrown in. */
  readonly line?: number;
}

export interface SandboxResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Absent: it came to its end. */
  readonly failure?: SandboxFailure;
  readonly seconds: number;
  /** Lines of the program that ran, from 1, ascending; absent where that was not asked, or is not known. */
  readonly lines?: readonly number[];
  /** Lines that could have run and did not; absent where that was not asked, or the program is none. */
  readonly missed?: readonly number[];
  readonly value?: string;
}

/** What the program's surroundings are told that ask in the middle of it. undefined: nobody answers any more. */
export type Answer = (question: string) => Promise<string | undefined>;

export interface Sandbox {
  /** Each program begins in the same clean state, whatever ran before. Rejects only where the sandbox itself is missing or aborted. */
  run(program: SandboxProgram, signal?: AbortSignal, answer?: Answer): Promise<SandboxResult>;
  /** Ends its processes. */
  close(): Promise<void>;
}

/** Characters that a program may print, both streams together. */
export const mostOutput = 1 << 20;
/** Characters of a question. */
export const mostQuestion = 4 << 20;
