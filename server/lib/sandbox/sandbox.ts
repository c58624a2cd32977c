/** Programs that a model wrote, run where they reach no file, no network and no process: in WebAssembly. */

export type SandboxLanguage = "javascript" | "python";

export interface SandboxProgram {
  readonly language: SandboxLanguage;
  readonly code: string;
  /** What it reads as its standard input. */
  readonly stdin?: string;
  /** Seconds that it may take. */
  readonly seconds: number;
  /** MiB that it may hold. */
  readonly memory: number;
}

/**
 * Why a program did not come to its end. exception: it threw, or left with a code other than 0; timeout, memory: it was
 * ended; refused: it asked for a file, the network or a process, which there are none of; output: it printed too much.
 */
export interface SandboxFailure {
  readonly kind: "exception" | "timeout" | "memory" | "refused" | "output";
  readonly message: string;
}

export interface SandboxResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Absent: it came to its end. */
  readonly failure?: SandboxFailure;
  readonly seconds: number;
}

export interface Sandbox {
  /** Each program begins in the same clean state, whatever ran before. Rejects only where the sandbox itself is missing or aborted. */
  run(program: SandboxProgram, signal?: AbortSignal): Promise<SandboxResult>;
  /** Ends its threads. */
  close(): Promise<void>;
}
