/** What a process that runs programs is told, and what it says. Only data; what it says is checked by who hears it. */
import type { JavaScriptRan } from "./javascript/interpreter.ts";
import type { PythonRan } from "./python/interpreter.ts";
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
