/**
 * The memory of a Python that has just started and has loaded its library: who starts from it is ready in a tenth of the time. The
 * first process makes it, before it has run any program; it is kept in Gradus's data folder for those to come.
 */
import { createHash } from "node:crypto";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { dataFolder } from "../../natives.ts";
import { imports } from "./harness.ts";
import { seal } from "./interpreter.ts";
import { shell, world } from "./realm.ts";

/** Another library, harness or realm makes another image. */
const fileOf = (version: string): string => {
  const made = createHash("sha256").update(imports).update(shell).update(world).digest("hex").slice(0, 12);
  return join(dataFolder(), "sandbox", `python-${version}-${made}.image`);
};

/** The file; undefined: there is none yet, and who asks makes one. */
export async function keptImage(version: string): Promise<string | undefined> {
  const file = fileOf(version);
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const end = Buffer.alloc(seal.length);
    await handle.read(end, 0, seal.length, Math.max(0, size - seal.length));
    return end.equals(seal) ? file : undefined;
  } finally {
    await handle.close();
  }
}

/** Where the folder cannot be written, each process makes its own. */
export async function keepImage(version: string, bytes: Uint8Array): Promise<void> {
  const file = fileOf(version);
  const partial = `${file}.${process.pid}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(partial, Buffer.concat([bytes, seal]));
    await rename(partial, file);
  } catch {
    // The next process starts slowly, as this one did.
  } finally {
    await rm(partial, { force: true });
  }
}
