/** Files of code that a command line names, as far as they are of this machine: `[npx, tsx, ./server.ts]`. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { limits, readText } from "../inputFile.ts";
import { pythonImports } from "../python/imports.ts";
import { bundledSources, bundleOwn, type Owner } from "./bundle.ts";
import type { SourceText } from "./prepared.ts";

const owner: Owner = { what: "program", key: "command", missing: "no-program", build: "no-bundle" };

/** @param folder that its words are relative to */
export async function looseSources(words: readonly string[], folder: string): Promise<readonly SourceText[]> {
  const files = words.filter((word) => /\.([cm]?[jt]s|py)$/.test(word)).map((word) => resolve(folder, word));
  const found = files.filter((file) => existsSync(file) && statSync(file).isFile());
  return (await Promise.all(found.map(withImports))).flat();
}

async function withImports(file: string): Promise<readonly SourceText[]> {
  const own = { path: file, text: readText(file, limits.source) };
  if (file.endsWith(".py")) return [own, ...pythonImports(file, own.text).files];
  try {
    return bundledSources(file, await bundleOwn(file, owner));
  } catch {
    return [own]; // it runs without being bundled, so what cannot be bundled is no fault of it
  }
}
