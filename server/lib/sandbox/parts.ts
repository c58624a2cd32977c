/** The interpreters' files, read and compiled once a process; threads share what is compiled. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { carriedFolder, carriedVersion } from "../natives.ts";
import type { PythonParts } from "./python/interpreter.ts";
import type { SandboxLanguage } from "./sandbox.ts";

/** What a thread is begun with. */
export type Parts =
  | { readonly language: "javascript"; readonly wasm: WebAssembly.Module }
  | { readonly language: "python"; readonly parts: PythonParts };

const read = new Map<SandboxLanguage, Promise<Parts>>();

/** @throws UserError where the package is incomplete */
export function partsOf(language: SandboxLanguage): Promise<Parts> {
  const known = read.get(language);
  if (known !== undefined) return known;
  const made = language === "python" ? pythonParts() : javaScriptParts();
  read.set(language, made);
  return made;
}

async function javaScriptParts(): Promise<Parts> {
  const folder = carriedFolder("@jitl/quickjs-ng-wasmfile-release-sync");
  return {
    language: "javascript",
    wasm: await WebAssembly.compile(await readFile(join(folder, "dist", "emscripten-module.wasm"))),
  };
}

async function pythonParts(): Promise<Parts> {
  const folder = carriedFolder("pyodide");
  const text = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  const [loader, module, wasm, library] = await Promise.all([
    text("pyodide.js"),
    text("pyodide.asm.mjs"),
    readFile(join(folder, "pyodide.asm.wasm")).then((bytes) => WebAssembly.compile(bytes)),
    readFile(join(folder, "python_stdlib.zip")),
  ]);
  return {
    language: "python",
    parts: { loader, module, wasm, library, version: carriedVersion("pyodide"), abi: await abiOf(text) },
  };
}

const lockFile = z.object({ info: z.object({ abi_version: z.string() }) });
const abiOf = async (text: (name: string) => Promise<string>): Promise<string> =>
  lockFile.parse(JSON.parse(await text("pyodide-lock.json"))).info.abi_version;
