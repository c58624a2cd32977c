/**
 * Files that a person or a config names. A pipe, a device or a socket would be waited for, or read, without end: only
 * regular files are opened, and only as much of them is read as a file of their kind can have.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from "node:fs";

const kilobyte = 1024;
const megabyte = kilobyte * kilobyte;

/** Bytes that a file of a kind may have at most. */
export const limits = {
  /** A config, of ours or of another trainer. */
  config: 2 * megabyte,
  /** A source file: a reward, a trainer's script. */
  source: 8 * megabyte,
  /** A notebook: its outputs hold pictures. */
  notebook: 64 * megabyte,
  /** A JSON file of a model: `config.json`, an index, an adapter's. */
  modelJson: 64 * megabyte,
  /** A tokenizer with its vocabulary. */
  tokenizer: 256 * megabyte,
  /** A file that is read whole as one text: a string can hold no more. */
  text: 512 * megabyte - kilobyte,
  /** One line of a JSONL file. */
  line: 64 * megabyte,
} as const;

/** Why a file is not read; its text follows "cannot be read: ". */
export class UnfitFile extends Error {
  override readonly name = "UnfitFile";
}

const kinds: readonly (readonly [(stats: Stats) => boolean, string])[] = [
  [(stats) => stats.isDirectory(), "it is a folder"],
  [(stats) => stats.isFIFO(), "it is a named pipe, not a file"],
  [(stats) => stats.isSocket(), "it is a socket, not a file"],
  [(stats) => stats.isCharacterDevice() || stats.isBlockDevice(), "it is a device, not a file"],
];

function refuseOthers(stats: Stats): void {
  if (stats.isFile()) return;
  throw new UnfitFile(kinds.find(([is]) => is(stats))?.[1] ?? "it is not a regular file");
}

/** @throws if it is not a regular file, or cannot be looked at */
export function regularFile(path: string): Stats {
  const stats = statSync(path);
  refuseOthers(stats);
  return stats;
}

/**
 * Of a path that some text names: undefined where nothing is there, and where no file can be, such as a path that is too
 * long, holds a zero or goes through a folder that may not be read.
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

/** Opened for reading. A pipe that took the file's place meanwhile does not hold anybody up. @throws as `regularFile` */
export function openRegular(path: string): number {
  regularFile(path);
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    refuseOthers(fstatSync(descriptor));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

export const inWords = (bytes: number): string =>
  bytes >= megabyte ? `${Math.floor(bytes / megabyte)} MB` : `${Math.ceil(bytes / kilobyte)} kB`;

const tooLarge = (size: number, most: number): UnfitFile =>
  new UnfitFile(`it has ${inWords(size)}, and the most for such a file is ${inWords(most)}`);

/** The whole file. @throws if it is not a regular file, has more than `most` bytes, or cannot be read */
export function readRegular(path: string, most: number = limits.text): Buffer {
  const descriptor = openRegular(path);
  try {
    const { size } = fstatSync(descriptor);
    if (size > most) throw tooLarge(size, most);
    // Files of /proc say 0 and have more: one byte beyond what is expected tells whether that is all.
    const pieces: Buffer[] = [];
    let total = 0;
    for (let room = size + 1; ; room = megabyte) {
      const piece = Buffer.allocUnsafe(room);
      const read = readSync(descriptor, piece, 0, room, null);
      if (read === 0) break;
      pieces.push(piece.subarray(0, read));
      total += read;
      if (total > most) throw tooLarge(total, most);
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, total);
  } finally {
    closeSync(descriptor);
  }
}

/** The same as text. */
export const readText = (path: string, most?: number): string => readRegular(path, most).toString("utf8");
