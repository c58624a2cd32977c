/** Python in WebAssembly (Pyodide), without its bridge to JavaScript and put back to one state before each program. */
import { createContext, runInContext } from "node:vm";
import { mostOutput, type SandboxFailure, type SandboxProgram, type SandboxResult } from "../sandbox.ts";
import { sharedBytes } from "./image.ts";
import { call, harness, imports } from "./harness.ts";
import { shell, world } from "./realm.ts";

/** Of the package: read and compiled once, for all threads. */
export interface PythonParts {
  readonly loader: string;
  readonly module: string;
  readonly wasm: WebAssembly.Module;
  readonly library: Uint8Array;
  readonly version: string;
  /** Of its lock file. */
  readonly abi: string;
}

interface Ran {
  readonly fault: string;
  readonly broken: boolean;
  readonly denied: boolean;
  readonly flooded: boolean;
  readonly asked: string;
  readonly fired: boolean;
  readonly said: Uint8Array;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}
interface Realm {
  start(abi: string): Promise<void>;
  image(code: string): Uint8Array;
  close(code: string): void;
  restore(): number;
  run(code: string, stdin: Uint8Array, seconds: number, bytes: number, most: number): Ran;
}
interface Said {
  readonly failure?: {
    kind: "exception" | "memory";
    name: string;
    message: string;
    line: number | null;
    os?: boolean;
  };
  readonly lines?: readonly number[];
  readonly missed?: readonly number[];
  readonly value?: string;
}

/** MiB: a memory that grew beyond it is given back, by a new thread; one that grew less is cleared faster. */
const mostKept = 512;

export interface PythonInterpreter {
  /** What another thread starts from in a tenth of the time. */
  readonly image: Uint8Array | undefined;
  /** `spent`: it is to be ended, another begun. */
  run(program: SandboxProgram): SandboxResult & { readonly spent: boolean };
}

/** @param image of an earlier interpreter of the same parts */
export async function startPython(
  parts: PythonParts,
  image: Uint8Array | undefined,
): Promise<PythonInterpreter> {
  const realm = realmOf(parts, image);
  await realm.start(parts.abi);
  const made = image === undefined ? realm.image(imports) : undefined;
  realm.close(harness);
  return { image: made && sharedBytes(made), run: (program) => ran(realm, program) };
}

function realmOf(parts: PythonParts, image: Uint8Array | undefined): Realm {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: true } });
  runInContext(shell, context, { filename: "shell" });
  const body = parts.module
    .replace(/export default (\w+);?\s*$/, "return $1;")
    .replaceAll("import.meta.url", '"file:///pyodide.asm.mjs"');
  const create: unknown = runInContext(`(() => {${body}\n})()`, context, { filename: "pyodide.asm" });
  runInContext(parts.loader, context, { filename: "pyodide" });
  const made = runInContext(world, context, { filename: "world" }) as (...args: unknown[]) => Realm;
  return made(create, parts.wasm, parts.library, image ?? null, parts.version);
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function ran(realm: Realm, program: SandboxProgram): SandboxResult & { readonly spent: boolean } {
  const held = realm.restore();
  const begun = performance.now();
  const code = call(program.code, program.lines === true, program.value === true);
  const stdin = new TextEncoder().encode(program.stdin ?? "");
  const done = realm.run(code, stdin, program.seconds, program.memory * 2 ** 20, mostOutput);
  const said = saidOf(done);
  const failure = failureOf(done, said, program);
  return {
    stdout: text(done.stdout),
    stderr: text(done.stderr),
    seconds: (performance.now() - begun) / 1000,
    ...(failure && { failure }),
    ...(said?.lines && { lines: said.lines }),
    ...(said?.missed && { missed: said.missed }),
    ...(said?.value !== undefined && { value: said.value }),
    spent: done.broken || held > mostKept,
  };
}

/** undefined: it was ended before it could tell. */
function saidOf({ said }: Ran): Said | undefined {
  try {
    return JSON.parse(text(said)) as Said;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function failureOf(
  done: Ran,
  said: Said | undefined,
  { seconds, memory }: SandboxProgram,
): SandboxFailure | undefined {
  const failure = said?.failure;
  const at = failure?.line == null ? {} : { line: failure.line };
  if (done.flooded) return { kind: "output", message: `printed more than ${mostOutput} characters` };
  if (done.fired) return { kind: "timeout", message: `took longer than ${seconds} s`, ...at };
  const named = failure === undefined ? {} : { name: failure.name, ...at };
  const outOfMemory: SandboxFailure = {
    kind: "memory",
    message: `asked for more than ${memory} MiB`,
    ...named,
  };
  if (failure?.kind === "memory") return outOfMemory;
  if (failure !== undefined && failure.message.includes("there are no processes here"))
    return { kind: "refused", message: "asked for a process", ...named };
  if (failure !== undefined && done.asked !== "" && failure.os === true)
    return { kind: "refused", message: `asked for ${done.asked}`, ...named };
  if (failure !== undefined) return { kind: "exception", message: failure.message, ...named };
  const exit = /^exit (\d+)$/.exec(done.fault)?.[1];
  if (exit === "0" || said !== undefined) return undefined;
  if (done.denied) return outOfMemory;
  if (exit !== undefined) return { kind: "exception", name: "SystemExit", message: `left with ${exit}` };
  return { kind: "exception", message: done.fault === "" ? "ended the interpreter" : done.fault };
}
