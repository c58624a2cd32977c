/** What git has of a work tree, read from its index: no program is started, and a repository's hooks least of all. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Of a repository with some hundred thousand files. */
const largest = 64 * 1024 * 1024;
const headerBytes = 12;
/** Times, device, owner and size, before the hash. */
const statBytes = 40;
const hashBytes = 20;
const extended = 0x4000;

/** Hash by path below the work tree, with `/`; undefined where there is no index that can be read. */
export function gitIndex(worktree: string): ReadonlyMap<string, string> | undefined {
  const folder = gitFolder(worktree);
  const path = folder === undefined ? undefined : join(folder, "index");
  const stats = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path === undefined || stats?.isFile() !== true || stats.size > largest) return undefined;
  return entriesOf(readFileSync(path));
}

/** Of a submodule and of a further work tree `.git` is a file that names it. */
function gitFolder(worktree: string): string | undefined {
  const path = join(worktree, ".git");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return path;
  if (stats?.isFile() !== true || stats.size > 4096) return undefined;
  const named = /^gitdir: (.+)$/m.exec(readFileSync(path, "utf8"))?.[1]?.trim();
  return named === undefined ? undefined : isAbsolute(named) ? named : join(worktree, named);
}

/** Versions 2 to 4 with SHA-1; what does not read as one is no index. */
function entriesOf(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  if (bytes.length < headerBytes || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const found = new Map<string, string>();
  let [at, path] = [headerBytes, ""];
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at;
    if (start + statBytes + hashBytes + 4 > bytes.length) return undefined;
    const hash = bytes.toString("hex", start + statBytes, start + statBytes + hashBytes);
    at = start + statBytes + hashBytes;
    at += (bytes.readUInt16BE(at) & extended) === 0 ? 2 : 4;
    let kept = 0;
    if (version === 4) [kept, at] = keptOf(bytes, at, path.length);
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    path = path.slice(0, kept) + bytes.toString("latin1", at, end);
    // From version 4 on entries are not padded.
    at = version === 4 ? end + 1 : start + Math.ceil((end - start + 1) / 8) * 8;
    found.set(Buffer.from(path, "latin1").toString("utf8"), hash);
  }
  return found;
}

/** Version 4: how much of the path before stays, as git writes such a number; and where it ends. */
function keptOf(bytes: Buffer, from: number, before: number): readonly [number, number] {
  let at = from;
  let byte = bytes[at++] ?? 0;
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0 && at < bytes.length) {
    byte = bytes[at++] ?? 0;
    dropped = ((dropped + 1) << 7) | (byte & 0x7f);
  }
  return [Math.max(0, before - dropped), at];
}

/** Whether a file is what git has, also where it was checked out with other line ends. */
export function isAsIndexed(content: Buffer, hash: string): boolean {
  if (blobHash(content) === hash) return true;
  return (
    content.includes("\r\n") &&
    blobHash(Buffer.from(content.toString("latin1").replaceAll("\r\n", "\n"), "latin1")) === hash
  );
}

const blobHash = (content: Buffer): string =>
  createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
