/**
 * The memory of a Python that has just started and has loaded its library: who starts from it is ready in a tenth of the time. The
 * first thread makes it; it is kept in Gradus's data folder for the processes to come.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { dataFolder } from "../../natives.ts";
import { imports } from "./harness.ts";
import { shell, world } from "./realm.ts";

/** Another library, harness or realm makes another image. */
const fileOf = (version: string): string => {
  const made = createHash("sha256").update(imports).update(shell).update(world).digest("hex").slice(0, 12);
  return join(dataFolder(), "sandbox", `python-${version}-${made}.image`);
};

let image: Promise<Uint8Array | undefined> | undefined;

/** For all threads at once: 30 MB need not be copied for each. */
export function sharedBytes(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** undefined: there is none yet, and who asks makes one. */
export async function knownImage(version: string): Promise<Uint8Array | undefined> {
  image ??= readFile(fileOf(version)).then(whole, () => undefined);
  return image;
}

/** What it ends with tells a file that was written to its end. */
const seal = Buffer.from("gradus image");
const whole = (bytes: Buffer): Uint8Array | undefined =>
  bytes.subarray(-seal.length).equals(seal) ? sharedBytes(bytes.subarray(0, -seal.length)) : undefined;

/** Waits for a thread that starts without one, and keeps what it made. */
export async function imageFrom(version: string, made: Promise<Uint8Array | undefined>): Promise<void> {
  image = made.catch(() => undefined);
  const bytes = await made;
  if (bytes !== undefined) await keep(fileOf(version), bytes).catch(() => undefined);
}

/** Where the folder cannot be written, each process makes its own. */
async function keep(file: string, bytes: Uint8Array): Promise<void> {
  const partial = `${file}.${process.pid}`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(partial, Buffer.concat([bytes, seal]));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}
