/** What a process that runs programs is told, and what it says. Only data; what it says is checked by who hears it. */
import type { SandboxProgram } from "./sandbox.ts";

/** Of a language's interpreter, read by the process itself. */
export type Parts =
  | { readonly language: "javascript"; readonly wasm: string }
  | {
      readonly language: "python";
      /** Pyodide's. */
      readonly folder: string;
      readonly version: string;
      readonly abi: string;
      /** A file; absent: it is to make one. */
      readonly image?: string;
    };

/** The first message is the parts, each other one of these. */
export interface Order extends SandboxProgram {
  /** Whether somebody answers what the program's surroundings ask. */
  readonly isAnswered: boolean;
}

/** What follows a question. */
export interface Answered {
  readonly text: string | null;
}

/** What came of a Python program, as it is told: what it means is decided outside. */
export interface PythonRan {
  readonly language: "python";
  /** Why the interpreter stopped, where it did: `exit 3`. */
  readonly fault: string;
  /** It asked for more memory than it may. */
  readonly denied: boolean;
  /** It printed too much. */
  readonly flooded: boolean;
  /** For a file or a process. */
  readonly asked: string;
  /** It was told that its time is over. */
  readonly fired: boolean;
  /** On the harness's own descriptor. */
  readonly said: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

/** What a program threw: any value has these texts. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** That it left with. */
  readonly code?: number | undefined;
}

/** What came of a JavaScript program. */
export interface JavaScriptRan {
  readonly language: "javascript";
  readonly stdout: string;
  readonly stderr: string;
  readonly thrown?: Thrown | undefined;
  readonly flooded: boolean;
  readonly late: boolean;
  /** MiB. */
  readonly took: number;
  readonly seconds: number;
}

export type Ran = PythonRan | JavaScriptRan;

export type Said =
  | {
      readonly kind: "ready";
      /** Base64. */
      readonly image?: string;
    }
  | { readonly kind: "asks"; readonly text: string }
  | {
      readonly kind: "ran";
      readonly ran: Ran;
      /** MiB that it holds from now on. */
      readonly held: number;
      /** Its state cannot be put back. */
      readonly spent: boolean;
    };

/** Asks whoever began this process. undefined: nobody answers. */
export type Ask = (text: string) => string | undefined;

/** Of a language, in its process. */
export interface Interpreter {
  readonly image?: Uint8Array | undefined;
  /** MiB. */
  held(): number;
  run(order: Order, ask: Ask): Promise<Done> | Done;
}

export interface Done {
  readonly ran: Ran;
  readonly spent: boolean;
}
