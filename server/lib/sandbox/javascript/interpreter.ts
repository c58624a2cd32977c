/** JavaScript in WebAssembly (QuickJS): an instance of its own for each program. */
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from "quickjs-emscripten-core";
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import { mostOutput, type SandboxFailure, type SandboxProgram, type SandboxResult } from "../sandbox.ts";
import { world } from "./world.ts";

const file = "program.js";
/** Bytes: below what the thread's own stack can bear. */
const stackSize = 2 ** 20;

interface Run {
  readonly program: SandboxProgram;
  readonly out: [string[], string[]];
  printed: number;
  flooded: boolean;
  late: boolean;
  readonly deadline: number;
}

/** Pages of 64 KiB that the module begins with. */
const leastPages = 256;
/** QuickJS's own limit does not see how much it allocates here: the memory itself has one. */
const memoryOf = (mebibytes: number): WebAssembly.Memory =>
  new WebAssembly.Memory({ initial: leastPages, maximum: Math.max(leastPages, Math.floor(mebibytes * 16)) });

export async function runJavaScript(
  wasm: WebAssembly.Module,
  program: SandboxProgram,
): Promise<SandboxResult> {
  const begun = performance.now();
  const memory = memoryOf(program.memory);
  const quickJs = await newQuickJSWASMModuleFromVariant(
    newVariant(variant, { wasmModule: wasm, wasmMemory: memory }),
  );
  const deadline = performance.now() + program.seconds * 1000;
  const run: Run = { program, out: [[], []], printed: 0, flooded: false, late: false, deadline };
  const runtime = quickJs.newRuntime();
  runtime.setMaxStackSize(stackSize);
  runtime.setInterruptHandler(() => {
    run.late ||= performance.now() > deadline;
    return run.late || run.flooded;
  });
  // The instance goes as a whole: nothing of it is freed one by one.
  const failure = failureOf(run, attempt(run, runtime), memory.buffer.byteLength / 2 ** 20);
  return {
    stdout: run.out[0].join(""),
    stderr: run.out[1].join(""),
    seconds: (performance.now() - begun) / 1000,
    ...(failure && { failure }),
  };
}

interface Thrown {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly code?: unknown;
}

/** What it threw, if it did. */
function attempt(run: Run, runtime: QuickJSRuntime): Thrown | undefined {
  try {
    const context = runtime.newContext();
    const made = worldOf(context, run);
    return evaluated(context, run, made) ?? rest(context, runtime, made);
  } catch (error) {
    // A trap of the machine itself: its stack, or its memory, is used up.
    return { name: "InternalError", message: error instanceof Error ? error.message : String(error) };
  }
}

function worldOf(context: QuickJSContext, run: Run): QuickJSHandle {
  const print = context.newFunction("write", (fd, text) => {
    const words = context.getString(text);
    run.printed += words.length;
    if (run.printed <= mostOutput) run.out[context.getNumber(fd) === 1 ? 0 : 1].push(words);
    else run.flooded = true;
    return run.flooded ? { error: context.newError("too much output") } : undefined;
  });
  const make = context.unwrapResult(context.evalCode(world, "world.js"));
  const input = context.newString(run.program.stdin ?? "");
  return context.unwrapResult(context.callFunction(make, context.undefined, print, input));
}

const isModule = (code: string): boolean =>
  /^\s*(import\s*[\w{*"']|export\s)|^\s*(const|let|var)?.*\bawait\b(?![^\n]*=>)/m.test(code) &&
  !/\brequire\s*\(/.test(code);

/** Runs it; as a module where it is written as one. */
function evaluated(context: QuickJSContext, run: Run, made: QuickJSHandle): Thrown | undefined {
  const { code } = run.program;
  context.runtime.setModuleLoader((name) => moduleText(context, made, name));
  const result = context.evalCode(code, file, { type: isModule(code) ? "module" : "global" });
  if (result.error) return context.dump(result.error) as Thrown;
  return isModule(code) ? settled(context, result.value) : undefined;
}

/** What a module threw: it is evaluated as a promise. */
function settled(context: QuickJSContext, promise: QuickJSHandle): Thrown | undefined {
  context.runtime.executePendingJobs();
  const state = context.getPromiseState(promise);
  return state.type === "rejected" ? (context.dump(state.error) as Thrown) : undefined;
}

function moduleText(context: QuickJSContext, made: QuickJSHandle, name: string): string | { error: Error } {
  const names = context.callMethod(made, "exported", [context.newString(name)]);
  if (names.error) {
    const { name: kind, message } = context.dump(names.error) as Thrown;
    const error = new Error(message);
    error.name = kind ?? "Error";
    return { error };
  }
  const list = context.dump(names.value) as readonly string[];
  return [
    `const own = require(${JSON.stringify(name)});`,
    "export default own;",
    ...list.map((one) => `export const ${one} = own.${one};`),
  ].join("\n");
}

/** Its promises and timers, until there are none. */
function rest(context: QuickJSContext, runtime: QuickJSRuntime, made: QuickJSHandle): Thrown | undefined {
  for (;;) {
    const jobs = runtime.executePendingJobs();
    if (jobs.error) return context.dump(jobs.error) as Thrown;
    const ticked = context.callMethod(made, "tick", []);
    if (ticked.error) return context.dump(ticked.error) as Thrown;
    if (context.dump(ticked.value) === false && !runtime.hasPendingJob()) return undefined;
  }
}

/** @param held MiB */
function failureOf(run: Run, thrown: Thrown | undefined, held: number): SandboxFailure | undefined {
  const { seconds, memory } = run.program;
  if (run.flooded) return { kind: "output", message: `printed more than ${mostOutput} characters` };
  if (run.late) return { kind: "timeout", message: `took longer than ${seconds} s` };
  if (thrown === undefined) return undefined;
  const { name = "Error", message = String(thrown), stack = "" } = thrown;
  if (name === "Exit")
    return thrown.code === 0
      ? undefined
      : { kind: "exception", name, message: `left with ${String(thrown.code)}` };
  const line = /program\.js:(\d+)/.exec(stack)?.[1];
  const named = { name, ...(line !== undefined && { line: Number(line) }) };
  // Where nothing is left there may not be enough for the error either.
  const isFull = message === "" && held > 0.7 * memory;
  if (isFull || (name === "InternalError" && /memory/.test(message)))
    return { kind: "memory", message: `asked for more than ${memory} MiB`, ...named };
  if (name === "Refused") return { kind: "refused", message: `asked for ${message}`, ...named };
  run.out[1].push(`${name}: ${message}\n${stack}`);
  return { kind: "exception", message: `${name}: ${message}`, ...named };
}
