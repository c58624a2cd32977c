/**
 * What each file of a checkpoint is known by: `SHA256SUMS` next to them, in the form that `sha256sum -c` reads. A flipped bit of
 * weights or of an optimiser would else train on. Checkpoints of earlier versions have no such file and are read as they are.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { flushFolder } from "../../lib/durable/flush.ts";
import { openRegular } from "../../lib/inputFile.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export const sumsFile = "SHA256SUMS";
const pieceBytes = 1024 * 1024;

/** Why a file of a checkpoint is not what was written. */
export interface DamagedFile {
  readonly file: string;
  readonly how: string;
}

/**
 * Flushes every file and every folder below one to the device, and writes what the files are known by.
 * @returns their size in bytes
 */
export function sealTree(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  // Windows flushes only what may be written.
  const sealed = files.map((file) => ({ file, ...digest(openSync(file, "r+"), true) }));
  writeSums(
    folder,
    sealed.map(({ file, sha256 }) => ({ name: relativePath(folder, file), sha256 })),
  );
  for (const entry of entries) if (entry.isDirectory()) flushFolder(join(entry.parentPath, entry.name));
  flushFolder(folder);
  return sealed.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Notes a file that was written anew in a checkpoint with sums. */
export function resum(folder: string, name: string): void {
  if (!existsSync(join(folder, sumsFile))) return;
  const { sha256 } = digest(openRegular(join(folder, name)), false);
  writeSums(
    folder,
    readSums(folder).map((one) => (one.name === name ? { name, sha256 } : one)),
  );
}

/** The first damaged file of a checkpoint; undefined: it is whole, or has no sums. */
export function damageIn(folder: string): DamagedFile | undefined {
  const sums = join(folder, sumsFile);
  if (!existsSync(sums)) return undefined;
  try {
    for (const { name, sha256 } of readSums(folder)) {
      const how = damageOf(join(folder, name), sha256);
      if (how !== undefined) return { file: join(folder, name), how };
    }
    return undefined;
  } catch (error) {
    return { file: sums, how: messageOf(error) };
  }
}

/** @throws UserError naming the file of the checkpoint that is not what was written */
export function mustBeWhole(folder: string): void {
  const damage = damageIn(folder);
  if (damage === undefined) return;
  throw new UserError(`${damage.file} is missing or damaged: ${damage.how}`, {
    file: damage.file,
    code: "checkpoint-damaged",
    action: "Use an earlier checkpoint of the run: gradus runs check RUN says which are whole.",
  });
}

/** The same for the folder with the weights, or a model that lies in no checkpoint. */
export const weightsMustBeWhole = (path: string): void =>
  mustBeWhole(basename(path) === "policy" ? dirname(path) : path);

function damageOf(file: string, sha256: string): string | undefined {
  try {
    return digest(openRegular(file), false).sha256 === sha256
      ? undefined
      : "its SHA-256 is not the one that it was written with";
  } catch (error) {
    return messageOf(error);
  }
}

/** Closes the descriptor. @param flushed whether the bytes are to be on the device */
function digest(descriptor: number, flushed: boolean): { readonly sha256: string; readonly bytes: number } {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  let bytes = 0;
  try {
    for (let read = 1; read > 0; bytes += read) {
      read = readSync(descriptor, piece, 0, pieceBytes, null);
      hash.update(piece.subarray(0, read));
    }
    if (flushed) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return { sha256: hash.digest("hex"), bytes };
}

interface Sum {
  /** From the checkpoint's folder, with `/`. */
  readonly name: string;
  readonly sha256: string;
}

/** By a new file: the former may be another run's too. */
function writeSums(folder: string, sums: readonly Sum[]): void {
  const file = join(folder, sumsFile);
  const text = sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join("");
  rmSync(file, { force: true });
  writeFileSync(file, text, { flush: true });
}

/** @throws Error where the list is not as it was written */
function readSums(folder: string): readonly Sum[] {
  const lines = readFileSync(join(folder, sumsFile), "utf8").split("\n");
  const sums = lines.slice(0, -1).map((line) => {
    const [, sha256, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sha256 === undefined || name === undefined || name.startsWith("/") || name.split("/").includes(".."))
      throw new Error("a line of it is no checksum of a file here");
    return { name, sha256 };
  });
  // The last one of every list, so that one that was cut is noticed.
  if (lines.at(-1) !== "" || sums.at(-1)?.name !== "state.json") throw new Error("its end is missing");
  return sums;
}
