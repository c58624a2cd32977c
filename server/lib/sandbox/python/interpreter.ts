/** Python in WebAssembly (Pyodide), without its bridge to JavaScript and put back to one state before each program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Context, createContext, runInContext } from "node:vm";
import { bounded, limitOf } from "../bounded.ts";
import type { Ask, Interpreter, Order, Parts, PythonRan } from "../messages.ts";
import { mostOutput } from "../sandbox.ts";
import { call, harness, imports } from "./harness.ts";
import { shell, world } from "./realm.ts";

type Bytes = "said" | "stdout" | "stderr";
/** Of the realm. */
interface Inside
  extends Omit<PythonRan, "language" | "seconds" | Bytes>, Readonly<Record<Bytes, Uint8Array>> {
  readonly broken: boolean;
}
interface Realm {
  start(abi: string): Promise<void>;
  image(code: string): Uint8Array;
  close(code: string): void;
  /** Whether it is as clean as it was. */
  restore(): boolean;
  held(): number;
  run(code: string, stdin: Uint8Array, seconds: number, bytes: number, most: number): Inside;
}
/** The realm's own question: its bytes come out, a text goes in, and nothing else of ours. */
type AskHost = (question: Uint8Array) => string | null;

/**
 * What an image ends with, so that half a file is none. In the memory are places of functions that the Node which made it gave them:
 * another finds others there.
 */
export const seal = Buffer.from(`gradus image of Node ${process.version}`);

/** MiB: a memory that grew beyond it is given back, by a new process; one that grew less is cleared faster. */
const mostKept = 512;

type PythonParts = Extract<Parts, { language: "python" }>;

export async function startPython(parts: PythonParts): Promise<Interpreter> {
  let ask: Ask = () => undefined;
  const { realm, image } = await openRealm(parts, (question) => quietly(ask, question));
  return {
    image,
    held: realm.held,
    run(order, asks) {
      ask = asks;
      return ran(realm, order);
    },
  };
}

interface Opened {
  readonly realm: Realm;
  /** Where it lives. */
  readonly context: Context;
  /** With its seal. */
  readonly image: Uint8Array | undefined;
}

/** Started and closed: ready for programs. */
export async function openRealm(parts: PythonParts, ask: AskHost): Promise<Opened> {
  const image = parts.image === undefined ? undefined : imageIn(parts.image);
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: true } });
  const realm = realmIn(context, parts, image, ask);
  await realm.start(parts.abi);
  const made = image === undefined ? realm.image(imports) : undefined;
  realm.close(harness);
  return { realm, context, image: made && Buffer.concat([made, seal]) };
}

/** Undefined where it is not whole, or this Node did not make it: in a container runs another than the one that keeps it. */
function imageIn(file: string): Uint8Array | undefined {
  const sealed = readFileSync(file);
  return sealed.subarray(-seal.length).equals(seal) ? sealed.subarray(0, -seal.length) : undefined;
}

/** No error of ours may come in either. */
function quietly(ask: Ask, question: Uint8Array): string | null {
  try {
    return ask(text(question)) ?? null;
  } catch {
    return null;
  }
}

function realmIn(
  context: Context,
  { folder, version }: PythonParts,
  image: Uint8Array | undefined,
  ask: AskHost,
): Realm {
  const file = (name: string): Buffer<ArrayBuffer> => readFileSync(join(folder, name));
  runInContext(shell, context, { filename: "shell" });
  const body = file("pyodide.asm.mjs")
    .toString()
    .replace(/export default (\w+);?\s*$/, "return $1;")
    .replaceAll("import.meta.url", '"file:///pyodide.asm.mjs"');
  const create: unknown = runInContext(withoutImports(`(() => {${body}\n})()`), context, {
    filename: "pyodide.asm",
  });
  runInContext(withoutImports(file("pyodide.js").toString()), context, { filename: "pyodide" });
  const made = runInContext(world, context, { filename: "world" }) as (...args: unknown[]) => Realm;
  const wasm = new WebAssembly.Module(file("pyodide.asm.wasm"));
  return made(create, wasm, file("python_stdlib.zip"), image ?? null, version, ask);
}

/** Node answers `import()` with a promise of its own realm, and by that with all that Node has. */
const withoutImports = (code: string): string => code.replace(/\bimport\s*\(/g, "noImport(");

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function ran(realm: Realm, program: Order): { ran: PythonRan; spent: boolean } {
  const begun = performance.now();
  const code = call(program);
  const stdin = new TextEncoder().encode(program.stdin ?? "");
  const done = bounded(limitOf(program.seconds, program.isAnswered), () =>
    realm.run(code, stdin, program.seconds, program.memory * 2 ** 20, mostOutput),
  );
  const told = {
    language: "python" as const,
    seconds: (performance.now() - begun) / 1000,
  };
  if (done.isLate) return { ran: { ...told, ...late }, spent: true };
  const { broken, fault, denied, flooded, asked, fired, said, stdout, stderr } = done.result;
  return {
    ran: {
      ...told,
      ...{ fault, denied, flooded, asked, fired },
      ...{ said: text(said), stdout: text(stdout), stderr: text(stderr) },
    },
    spent: broken || !realm.restore() || realm.held() > mostKept,
  };
}

const late = {
  fault: "",
  denied: false,
  flooded: false,
  asked: "",
  fired: true,
  said: "",
  stdout: "",
  stderr: "",
};
