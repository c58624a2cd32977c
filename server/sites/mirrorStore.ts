/** The local side of a mirror: what is here, what is known of each file, and how bytes are added so that a kill loses none. */
import { createHash } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { z } from "zod";
import { fileWindow } from "../lib/growing/fileWindow.ts";
import type { ListedFile, Piece, Seen } from "./mirrorCalls.ts";
import type { FileKind } from "./mirrorFiles.ts";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";
import { pathHere } from "../../shared/lib/fileName.ts";

export interface Wanted {
  readonly file: ListedFile;
  readonly kind: FileKind;
  /** `part`: brought whole under another name, then renamed. */
  readonly how: "append" | "part";
}

const knownSchema = z.record(
  z.string(),
  z.object({ size: z.number(), mtime: z.string(), inode: z.string() }),
);

/** Bytes that are compared before a file is appended to. */
const overlap = 4096;
const partEnding = ".part";
/** Milliseconds between writes of what is known: without it, files are compared or brought once more. */
const writeEvery = 1_000;

export class MirrorStore {
  /** What an import reads: the folder, or the one file that was named. */
  readonly local: string;
  private readonly own: string;
  private readonly known: Map<string, Seen>;
  private written = Number.NEGATIVE_INFINITY;
  private single = false;

  /** @param root holds the mirror; made where there is none @param folder of the site */
  constructor(
    private readonly root: string,
    folder: string,
  ) {
    const name = posix.basename(folder);
    this.local = join(root, /^[.~]*$/.test(name) ? "files" : pathHere(name));
    this.own = join(root, ".mirror");
    mkdirSync(this.own, { recursive: true });
    this.known = readKnown(this.knownFile);
  }

  private get knownFile(): string {
    return join(this.own, "known.json");
  }

  /** @param single whether a file is mirrored, not a folder */
  prepare(single: boolean): void {
    this.single = single;
    if (!single) mkdirSync(this.local, { recursive: true });
  }

  /** What is to be brought of a file; undefined: it is here as it is there. */
  wanted(file: ListedFile, kind: FileKind): Wanted | undefined {
    const size = sizeOf(this.pathOf(file));
    const known = this.known.get(file.path);
    if (size === undefined) return { file, kind, how: kind.grows ? "append" : "part" };
    const same = known?.inode === file.inode && known.mtime === file.mtime && known.size === file.size;
    if (same && size === file.size) return undefined;
    const other = file.size < size || (known !== undefined && known.inode !== file.inode);
    return { file, kind, how: kind.grows && !other ? "append" : "part" };
  }

  isHere(file: ListedFile): boolean {
    return sizeOf(this.pathOf(file)) !== undefined;
  }

  /** The next bytes of a file. @param most bytes, more than are compared; undefined: all are here */
  piece({ file, how }: Wanted, most: number): Piece | undefined {
    const here = sizeOf(how === "part" ? this.partOf(file) : this.pathOf(file));
    const at = here ?? 0;
    const compared = how === "part" ? 0 : Math.min(at, overlap);
    if (at >= file.size && compared === 0) return undefined;
    const length = Math.min(most, compared + Math.max(0, file.size - at));
    return { path: file.path, offset: at - compared, length };
  }

  /**
   * Adds what was brought.
   * @returns whether it goes on from the bytes that are here: else the file was written again
   */
  add({ file, how }: Wanted, { offset }: Piece, bytes: Buffer): boolean {
    const path = how === "part" ? this.partOf(file) : this.pathOf(file);
    const compared = (sizeOf(path) ?? 0) - offset;
    if (compared > 0 && !fileWindow(path, offset, compared).bytes.equals(bytes.subarray(0, compared)))
      return false;
    mkdirSync(dirname(path), { recursive: true });
    const descriptor = openSync(path, "a");
    try {
      for (let at = compared; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    } finally {
      closeSync(descriptor);
    }
    return true;
  }

  /** All of it is here. @param late seconds by which the site's clock is ahead */
  settle({ file, how }: Wanted, late: number): void {
    const path = this.pathOf(file);
    mkdirSync(dirname(path), { recursive: true });
    const from = how === "part" ? this.partOf(file) : path;
    // An empty file has brought nothing.
    closeSync(openSync(from, "a"));
    const time = Number(file.mtime) - late;
    utimesSync(from, time, time);
    if (how === "part") putInPlace(from, path);
    const { size, mtime, inode } = file;
    this.known.set(file.path, { size, mtime, inode });
  }

  /** An SQLite file's log that is no longer there. */
  remove(path: string): void {
    rmSync(this.pathOf({ path }), { force: true });
    this.known.delete(path);
  }

  /** Parts of files that have changed since. */
  removeOldParts(wanted: readonly Wanted[]): void {
    const parts = new Set(wanted.map(({ file }) => this.partOf(file)));
    for (const name of readdirSync(this.own)) {
      const path = join(this.own, name);
      if (name.endsWith(partEnding) && !parts.has(path)) rmSync(path, { force: true });
    }
  }

  /** Writes down what is known. @param now also right after the last time */
  write(now: boolean): void {
    if (!now && performance.now() - this.written < writeEvery) return;
    const draft = `${this.knownFile}.draft`;
    writeFileSync(draft, JSON.stringify(Object.fromEntries(this.known)));
    putInPlace(draft, this.knownFile);
    this.written = performance.now();
  }

  /** A file that was named lies where the folder would. */
  private pathOf({ path }: Pick<ListedFile, "path">): string {
    if (path.startsWith("../")) return join(this.root, pathHere(path.slice(3)));
    return join(this.single ? this.root : this.local, pathHere(path));
  }

  private partOf({ path, size, mtime, inode }: ListedFile): string {
    const id = createHash("sha256").update([path, size, mtime, inode].join("\0")).digest("hex");
    return join(this.own, `${id.slice(0, 24)}${partEnding}`);
  }
}

function sizeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : undefined;
}

function readKnown(file: string): Map<string, Seen> {
  try {
    return new Map(Object.entries(knownSchema.parse(JSON.parse(readFileSync(file, "utf8")))));
  } catch {
    return new Map(); // there is none yet, or the disk has lost it: files are compared
  }
}
