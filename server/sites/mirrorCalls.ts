/** The two questions that a mirror asks of a site: what is there, and some bytes of it. */
import { copiedWord } from "../../shared/lib/copiedWord.ts";
import { posix } from "node:path";
import { randomBytes } from "node:crypto";
import { UserError } from "../../shared/lib/errors.ts";
import { hereName } from "./here.ts";
import { hasNeighbours, listFileLine, listLines } from "./mirrorFiles.ts";
import { shellWord, type Shell } from "./shell.ts";

/** A file as it was at one moment. */
export interface Seen {
  readonly size: number;
  /** Seconds since 1970 as the site writes them, with all their digits. */
  readonly mtime: string;
  readonly inode: string;
}

export interface ListedFile extends Seen {
  /** When anything of it changed last, its name included: seconds since 1970. */
  readonly ctime: number;
  /** From the named folder on, with slashes; `../x` of its neighbours. Of a file that was named: its name. */
  readonly path: string;
}

export interface Listing {
  readonly files: readonly ListedFile[];
  /** Whether a file was named, not a folder. */
  readonly single: boolean;
  /** The site's clock, in seconds since 1970. */
  readonly now: number;
  /** Names that are no UTF-8. */
  readonly unnamed: number;
}

const codes = { missing: 44, noFind: 45, unread: 46 } as const;
const begin = "LC_ALL=C; export LC_ALL; unset CDPATH";

export interface ListAsk {
  /** Only files that changed after so many seconds since 1970. */
  readonly since?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws UserError where there is no such folder, it may not be read, or the site has no GNU find */
export async function listFolder(
  shell: Shell,
  folder: string,
  { since, signal }: ListAsk = {},
): Promise<Listing> {
  const [place, above] = [shellWord(folder), shellWord(posix.dirname(folder))];
  const name = posix.basename(folder);
  const script = [
    begin,
    `find / -maxdepth 0 -printf '' 2>/dev/null || exit ${codes.noFind}`,
    `if [ -d ${place} ]; then cd -- ${place} || exit ${codes.unread}; kind=folder`,
    `elif [ -f ${place} ]; then cd -- ${above} || exit ${codes.unread}; kind=file`,
    `else exit ${codes.missing}; fi`,
    `echo "$kind $(date +%s)"`,
    `if [ $kind = file ]; then`,
    listFileLine,
    "else",
    ...listLines(hasNeighbours(name), since),
    "fi",
    "exit 0",
  ].join("\n");
  const { code, stdout, stderr } = await shell.run(script, { signal });
  if (code !== 0) throw refusal(shell, folder, code, stderr);
  return parsed(stdout, name);
}

function refusal({ name }: Shell, folder: string, code: number, stderr: string): UserError {
  const place = name === hereName ? folder : `${name}:${folder}`;
  if (code === codes.missing)
    return new UserError(`There is no folder ${place}.`, {
      file: place,
      code: "import-missing",
      action: "Name the folder that a trainer wrote to: an absolute path, or one from the home folder.",
    });
  if (code === codes.noFind)
    return new UserError(`${name} has no GNU find, which lists a folder to follow.`, {
      file: place,
      code: "site-find",
      action: "Install findutils there, or copy the folder and import the copy.",
    });
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return new UserError(`${place} cannot be read${said === "" ? "" : `: ${said}`}.`, {
    file: place,
    code: "site-unread",
    action: `Look at it as the same user: ssh ${copiedWord(name)} ls -la ${shellWord(folder)}.`,
  });
}

function parsed(bytes: Buffer, name: string): Listing {
  const head = bytes.indexOf(10);
  const [kind = "", now = "0"] = bytes.toString("latin1", 0, head).split(" ");
  const single = kind === "file";
  const files = new Map<string, ListedFile>();
  let unnamed = 0;
  for (let at = head + 1, end = bytes.indexOf(0, at); end >= 0; at = end + 1, end = bytes.indexOf(0, at)) {
    const record = bytes.subarray(at, end);
    const text = record.toString("utf8");
    const [, size = "", mtime = "", ctime = "", inode = "", found = ""] =
      /^(\d+) (\S+) (\S+) (\d+) ([^]*)$/.exec(text) ?? [];
    if (!Buffer.from(text).equals(record)) unnamed++;
    else if (isPlain(found)) {
      const path = found.replace(/^\.\//, "");
      if (!single || path === name || path === `${name}-wal`)
        files.set(path, { path, size: Number(size), mtime, ctime: Number(ctime), inode });
    }
  }
  return { files: [...files.values()], single, now: Number(now), unnamed };
}

/** Whatever a site says, nothing is written outside the mirror. */
function isPlain(path: string): boolean {
  const parts = path.replace(/^\.\.?\//, "").split("/");
  const forbidden = process.platform === "win32" ? /[<>:"|?*\\]/ : /\0/;
  return (
    /^\.\.?\//.test(path) &&
    (path.startsWith("./") || parts.length === 1) &&
    parts.every((part) => part !== "" && part !== "." && part !== ".." && !forbidden.test(part))
  );
}

/** Some bytes of a file. */
export interface Piece {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

export interface Brought {
  /** Fewer than were asked for where the file is shorter now. */
  readonly bytes: Buffer;
  /** As it was right afterwards; undefined: it is gone. */
  readonly seen: Seen | undefined;
}

/** In the order of the pieces. @param folder of which the paths are, or that has the file */
export async function bringPieces(
  shell: Shell,
  folder: string,
  pieces: readonly Piece[],
  signal?: AbortSignal,
): Promise<readonly Brought[]> {
  const mark = `gradus-${randomBytes(12).toString("hex")}`;
  const script = [
    begin,
    `cd -- ${shellWord(folder)} || exit ${codes.unread}`,
    `bring() { if [ $2 = 0 ]; then head -c $3 "$1"; else tail -c +$(($2 + 1)) "$1" | head -c $3; fi 2>/dev/null; printf '\n${mark}\n'; }`,
    ...pieces.map(({ path, offset, length }) => `bring ${shellWord(inFolder(path))} ${offset} ${length}`),
    `find ${pieces.map(({ path }) => shellWord(inFolder(path))).join(" ")} -maxdepth 0 -printf '%s %T@ %i %p\\0' 2>/dev/null`,
    "exit 0",
  ].join("\n");
  const { code, stdout, stderr } = await shell.run(script, { signal, seconds: bringSeconds });
  if (code !== 0) throw refusal(shell, folder, code, stderr);
  return brought(stdout, mark, pieces);
}

/** A slow line takes its time for some megabytes. */
const bringSeconds = 120;
/** A name may begin with a dash or a tilde. */
const inFolder = (path: string): string => (path.startsWith("../") ? path : `./${path}`);

function brought(stdout: Buffer, mark: string, pieces: readonly Piece[]): Brought[] {
  const after = Buffer.from(`\n${mark}\n`);
  const all: Buffer[] = [];
  let at = 0;
  for (const { length } of pieces) {
    // The length is known; a file that is shorter now ends where its mark is.
    const whole = stdout.subarray(at + length, at + length + after.length).equals(after);
    const end = whole ? at + length : stdout.indexOf(after, at);
    if (end < 0) throw new Error("the site's answer lacks a file's end");
    all.push(stdout.subarray(at, end));
    at = end + after.length;
  }
  const seen = new Map<string, Seen>();
  for (const record of stdout.toString("utf8", at).split("\0")) {
    const [, size = "", mtime = "", inode = "", path = ""] = /^(\d+) (\S+) (\d+) ([^]*)$/.exec(record) ?? [];
    seen.set(path, { size: Number(size), mtime, inode });
  }
  return pieces.map(({ path }, index) => ({ bytes: all[index]!, seen: seen.get(inFolder(path)) }));
}
