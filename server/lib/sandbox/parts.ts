/** Where the interpreters' files are. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { carriedFolder, carriedVersion } from "../carried.ts";
import type { Parts } from "./messages.ts";
import { keptImage } from "./python/image.ts";
import type { SandboxLanguage } from "./sandbox.ts";

const lockFile = z.object({ info: z.object({ abi_version: z.string() }) });

/** @throws UserError where the package is incomplete */
export async function partsOf(language: SandboxLanguage): Promise<Parts> {
  if (language === "javascript") {
    const folder = carriedFolder("@jitl/quickjs-ng-wasmfile-release-sync");
    return { language, wasm: join(folder, "dist", "emscripten-module.wasm") };
  }
  const folder = carriedFolder("pyodide");
  const version = carriedVersion("pyodide");
  const lock = lockFile.parse(JSON.parse(await readFile(join(folder, "pyodide-lock.json"), "utf8")));
  const image = await keptImage({ folder, version });
  return { language, folder, version, abi: lock.info.abi_version, ...(image !== undefined && { image }) };
}

/** What a process must be able to read. */
export const visibleOf = (parts: Parts): readonly string[] =>
  parts.language === "javascript"
    ? [parts.wasm]
    : [
        ...pythonFiles.map((name) => join(parts.folder, name)),
        ...(parts.image === undefined ? [] : [parts.image]),
      ];

export const pythonFiles = [
  "pyodide.js",
  "pyodide.asm.mjs",
  "pyodide.asm.wasm",
  "python_stdlib.zip",
] as const;
