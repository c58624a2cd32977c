/** JavaScript in WebAssembly (QuickJS): an instance of its own for each program. */
import { readFileSync } from "node:fs";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from "quickjs-emscripten-core";
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import { bounded, limitOf } from "../bounded.ts";
import type { Ask, Interpreter, JavaScriptRan, Order, Thrown } from "../messages.ts";
import { mostOutput, mostQuestion, type SandboxProgram } from "../sandbox.ts";
import { serve } from "./crossing.ts";
import { world } from "./world.ts";

const file = "program.js";
/** What a judge finds its question by. */
const asks = "__gradusAsk";
const served = "__gradusServe";
/** Bytes: below what the process's own stack can bear. */
const stackSize = 2 ** 20;

interface Run {
  readonly program: SandboxProgram;
  readonly ask: Ask;
  readonly out: [string[], string[]];
  printed: number;
  flooded: boolean;
  late: boolean;
  deadline: number;
}

/** Pages of 64 KiB that the module begins with. */
const leastPages = 256;
/** QuickJS's own limit does not see how much it allocates here: the memory itself has one. */
const memoryOf = (mebibytes: number): WebAssembly.Memory =>
  new WebAssembly.Memory({ initial: leastPages, maximum: Math.max(leastPages, Math.floor(mebibytes * 16)) });

export function startJavaScript(wasm: string): Interpreter {
  const module = new WebAssembly.Module(readFileSync(wasm));
  return { held: () => 0, run: (order, ask) => runJavaScript(module, order, ask) };
}

async function runJavaScript(
  wasm: WebAssembly.Module,
  program: Order,
  ask: Ask,
): Promise<{ ran: JavaScriptRan; spent: boolean }> {
  const begun = performance.now();
  const memory = memoryOf(program.memory);
  const quickJs = await newQuickJSWASMModuleFromVariant(
    newVariant(variant, { wasmModule: wasm, wasmMemory: memory }),
  );
  const deadline = performance.now() + program.seconds * 1000;
  const run: Run = { program, ask, out: [[], []], printed: 0, flooded: false, late: false, deadline };
  const runtime = quickJs.newRuntime();
  runtime.setMaxStackSize(stackSize);
  runtime.setInterruptHandler(() => {
    run.late ||= performance.now() > run.deadline;
    return run.late || run.flooded;
  });
  // The instance goes as a whole: nothing of it is freed one by one.
  const done = bounded(limitOf(program.seconds, program.isAnswered), () => attempt(run, runtime));
  const thrown = done.isLate ? undefined : done.result;
  const ran: JavaScriptRan = {
    language: "javascript",
    stdout: run.out[0].join(""),
    stderr: run.out[1].join(""),
    ...(thrown && { thrown }),
    flooded: run.flooded,
    late: run.late || done.isLate,
    took: memory.buffer.byteLength / 2 ** 20,
    seconds: (performance.now() - begun) / 1000,
  };
  return { ran, spent: done.isLate };
}

/** Characters of a text that an error has. */
const mostOfError = 1 << 16;

/** A value may be thrown whose texts are none. */
function thrownOf(value: unknown): Thrown {
  const own = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const text = (name: string, otherwise: string): string =>
    (typeof own[name] === "string" ? own[name] : otherwise).slice(0, mostOfError);
  const { code } = own;
  return {
    name: text("name", "Error"),
    message: text("message", shortly(value)),
    stack: text("stack", ""),
    ...(typeof code === "number" && { code }),
  };
}

const shortly = (value: unknown): string =>
  typeof value === "object" && value !== null ? (JSON.stringify(value) ?? "") : String(value);

const thrownIn = (context: QuickJSContext, error: QuickJSHandle): Thrown => thrownOf(context.dump(error));

/** What it threw, if it did. */
function attempt(run: Run, runtime: QuickJSRuntime): Thrown | undefined {
  try {
    const context = runtime.newContext();
    const made = worldOf(context, run);
    return evaluated(context, run, made) ?? rest(context, runtime, made);
  } catch (error) {
    // A trap of the machine itself: its stack, or its memory, is used up.
    const message = error instanceof Error ? error.message : String(error);
    return { name: "InternalError", message, stack: "" };
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
  const asking = context.newFunction("ask", (question) => {
    const text = context.getString(question);
    const at = performance.now();
    const answer = run.ask(text.slice(0, mostQuestion));
    run.deadline += performance.now() - at;
    return answer === undefined ? context.null : context.newString(answer);
  });
  if (run.program.serve === true) {
    const makeServe = context.unwrapResult(context.evalCode(serve, "serve.js"));
    const serving = context.unwrapResult(context.callFunction(makeServe, context.undefined, asking));
    context.defineProp(context.global, served, { value: serving });
  } else context.setProp(context.global, asks, asking);
  const make = context.unwrapResult(context.evalCode(world, "world.js"));
  const input = context.newString(run.program.stdin ?? "");
  return context.unwrapResult(context.callFunction(make, context.undefined, print, input, asking));
}

/** What imports or exports is one, also where what is around it says `require`; what waits is one where nothing does. */
const isModule = (code: string): boolean =>
  /^\s*(import\s*[\w{*"']|export\s)/m.test(code) ||
  (/^\s*(const|let|var)?.*\bawait\b(?![^\n]*=>)/m.test(code) && !/\brequire\s*\(/.test(code));

/** Runs it; as a module where it is written as one. */
function evaluated(context: QuickJSContext, run: Run, made: QuickJSHandle): Thrown | undefined {
  const { serve: isServed = false } = run.program;
  // In its own scope, so that what `const` and `import` name is found, too.
  const code = isServed ? `${run.program.code}\n;${served}((name) => eval(name));` : run.program.code;
  context.runtime.setModuleLoader((name) => moduleText(context, made, name));
  const result = context.evalCode(code, file, { type: isModule(code) ? "module" : "global" });
  if (result.error) return thrownIn(context, result.error);
  return isModule(code) ? settled(context, result.value) : undefined;
}

/** What a module threw: it is evaluated as a promise. */
function settled(context: QuickJSContext, promise: QuickJSHandle): Thrown | undefined {
  context.runtime.executePendingJobs();
  const state = context.getPromiseState(promise);
  return state.type === "rejected" ? thrownIn(context, state.error) : undefined;
}

function moduleText(context: QuickJSContext, made: QuickJSHandle, name: string): string | { error: Error } {
  const names = context.callMethod(made, "exported", [context.newString(name)]);
  if (names.error) {
    const { name: kind, message } = thrownIn(context, names.error);
    const error = new Error(message);
    error.name = kind;
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
    if (jobs.error) return thrownIn(context, jobs.error);
    const ticked = context.callMethod(made, "tick", []);
    if (ticked.error) return thrownIn(context, ticked.error);
    if (context.dump(ticked.value) === false && !runtime.hasPendingJob()) return undefined;
  }
}
