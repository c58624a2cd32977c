/**
 * The memory of a Python that has just started and has loaded its library: who starts from it is ready in a tenth of the time. The
 * first process makes it, before it has run any program; it is kept in Gradus's data folder for those to come.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { putInPlace } from "../../../../shared/lib/putInPlace.mjs";
import { dataFolder } from "../../natives.ts";
import type { Parts } from "../messages.ts";
import { imports } from "./harness.ts";
import { shell, world } from "./realm.ts";

type Interpreter = Pick<Extract<Parts, { language: "python" }>, "folder" | "version">;

/**
 * Another Node, library, harness or realm makes another image: it holds the places of modules in the library's file, which a
 * package stores otherwise than a checkout.
 */
async function fileOf({ folder, version }: Interpreter): Promise<string> {
  const library = await readFile(join(folder, "python_stdlib.zip"));
  const hash = createHash("sha256")
    .update(process.version)
    .update(imports)
    .update(shell)
    .update(world)
    .update(library);
  return join(dataFolder(), "sandbox", `python-${version}-${hash.digest("hex").slice(0, 12)}.image`);
}

/** The file, which the process that starts from it checks; undefined: there is none yet, and who asks makes one. */
export async function keptImage(interpreter: Interpreter): Promise<string | undefined> {
  const file = await fileOf(interpreter);
  return existsSync(file) ? file : undefined;
}

/** One that no process starts from. */
export const dropImage = (file: string): Promise<void> => rm(file, { force: true }).catch(() => undefined);

/**
 * Where the folder cannot be written, each process makes its own.
 * @param sealed as the process that made it sealed it
 */
export async function keepImage(interpreter: Interpreter, sealed: Uint8Array): Promise<void> {
  const file = await fileOf(interpreter);
  const partial = `${file}.${process.pid}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(partial, sealed);
    putInPlace(partial, file);
  } catch {
    // The next process starts slowly, as this one did.
  } finally {
    await rm(partial, { force: true });
  }
}
