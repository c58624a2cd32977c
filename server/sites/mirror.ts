/**
 * A folder of a site as a local folder that grows. What is here says what is still to be brought, so a process that is killed at
 * any moment goes on where it was: a file that grows is appended to, after its last bytes have been compared; any other, and one
 * that was written again, is brought whole under another name and renamed.
 *
 * `<root>/<name>/…` is the folder, `<root>/.mirror/` what is known of it.
 */
import { UserError } from "../../shared/lib/errors.ts";
import { bringPieces, listFolder, type Brought, type Listing, type Piece } from "./mirrorCalls.ts";
import { isDatabase, kindOf, orderOf, otherOf } from "./mirrorFiles.ts";
import { MirrorStore, type Wanted } from "./mirrorStore.ts";
import type { Shell } from "./shell.ts";
import { posix } from "node:path";

export interface LeftOut {
  readonly path: string;
  readonly bytes: number;
}

export interface Pulled {
  readonly bytes: number;
  /** There was more than was asked for. */
  readonly more: boolean;
  /** Files that grew before and were written again since. */
  readonly rewritten: readonly string[];
  /** Files that are left out because of their size; each is named once. */
  readonly leftOut: readonly LeftOut[];
}

export interface PullAsk {
  /** Bytes, about; default: all that is there. */
  readonly most?: number;
  readonly signal?: AbortSignal;
}

/** Bytes of a call: more while calls are quick, fewer where the line is slow. */
const [leastCall, firstCall, mostCall] = [64 * 1024, 1024 * 1024, 16 * 1024 * 1024];
/** Milliseconds. */
const [quickCall, slowCall] = [2_000, 10_000];
const filesOfCall = 200;
/** Seconds by which clocks may differ and count as the same. */
const sameClock = 5;

/** Milliseconds after which all files are listed again, not only those that changed. */
const wholeEvery = 60_000;
/** Seconds within which changes may be written down in another order. */
const sameMoment = 1;

interface WholeListing {
  /** As `performance.now` says. */
  readonly at: number;
  /** The last change that was seen, in seconds since 1970. */
  readonly changed: number;
  /** Seconds of the last listing: a file may have changed after it was looked at, and before the last that was. */
  readonly took: number;
  readonly databases: boolean;
}

/** @param before the last listing of all, where this one names only what changed since */
function listed({ files }: Listing, took: number, before: WholeListing | undefined): WholeListing {
  const changed = files.reduce((last, { ctime }) => Math.max(last, ctime), before?.changed ?? 0);
  const databases = before?.databases ?? files.some(({ path }) => isDatabase(path));
  return { at: before?.at ?? performance.now(), changed, took, databases };
}

/** What one pull has come to so far. */
interface Turn {
  readonly listing: Listing;
  /** Seconds by which the site's clock is ahead. */
  readonly late: number;
  readonly signal: AbortSignal | undefined;
  bytes: number;
  readonly rewritten: string[];
  /** All of them is here, under another name. */
  readonly whole: Wanted[];
}

export class Mirror {
  private readonly store: MirrorStore;
  private readonly tooLarge = new Set<string>();
  private callBytes = firstCall;
  /** The last listing of all files, when all that it named was brought. */
  private whole: WholeListing | undefined;

  /**
   * @param folder there, or a file: absolute, or from the user's home
   * @param root a local folder, made where there is none
   */
  constructor(
    private readonly shell: Shell,
    private readonly folder: string,
    root: string,
    private readonly listAllEvery = wholeEvery,
  ) {
    this.store = new MirrorStore(root, folder);
  }

  /** What an import reads: the folder, or the one file that was named. */
  get local(): string {
    return this.store.local;
  }

  /**
   * Brings what is new, so that the mirror is the folder as it was at one moment: metrics never say more than the rollouts that
   * are here.
   * @throws UserError with the code `site-unreachable` where the site does not answer: what came is kept
   */
  async pull({ most = Number.POSITIVE_INFINITY, signal }: PullAsk = {}): Promise<Pulled> {
    const since = this.since();
    const began = performance.now();
    const listing = await listFolder(this.shell, this.folder, { since, signal });
    const took = (performance.now() - began) / 1000;
    const ahead = listing.now - Date.now() / 1000;
    const late = Math.abs(ahead) > sameClock ? ahead : 0;
    const turn: Turn = { listing, late, signal, bytes: 0, rewritten: [], whole: [] };
    this.store.prepare(listing.single);
    const leftOut: LeftOut[] = [];
    const all = this.allWanted(listing, turn, leftOut);
    this.store.removeOldParts(all);
    let waiting = this.settled(all, turn);
    try {
      while (waiting.length > 0 && turn.bytes < most)
        waiting = this.settled(await this.call(waiting, turn), turn);
      this.rename(all, turn);
    } finally {
      this.store.write(true);
    }
    if (waiting.length === 0)
      this.whole = listed(listing, took, since === undefined ? undefined : this.whole);
    return { bytes: turn.bytes, more: waiting.length > 0, rewritten: turn.rewritten, leftOut };
  }

  /**
   * What was there at the last listing has changed no more, if it has not changed after the last change that was seen: by the
   * clock of the file system, which need be no one else's. undefined: all is to be listed.
   */
  private since(): number | undefined {
    const { whole } = this;
    // The log of a database may be gone: only a listing of all says so.
    if (whole === undefined || whole.databases || performance.now() - whole.at >= this.listAllEvery)
      return undefined;
    return Math.floor(whole.changed - whole.took) - sameMoment;
  }

  private allWanted({ files }: Listing, turn: Turn, leftOut: LeftOut[]): Wanted[] {
    const all = files.flatMap((file) => {
      const kind = kindOf(file.path);
      if (kind !== undefined && file.size <= kind.most) {
        const wanted = this.store.wanted(file, kind);
        if (wanted?.how === "part" && kind.grows) turn.rewritten.push(file.path);
        return wanted ?? [];
      }
      if (kind !== undefined && !this.tooLarge.has(file.path)) {
        this.tooLarge.add(file.path);
        leftOut.push({ path: file.path, bytes: file.size });
      }
      return [];
    });
    return all.sort((one, other) => orderOf(one.file.path) - orderOf(other.file.path));
  }

  /** Those that are not all here yet. */
  private settled(wanted: readonly Wanted[], turn: Turn): Wanted[] {
    return wanted.filter((one) => {
      if (this.store.piece(one, this.callBytes) !== undefined) return true;
      if (one.kind.grows) this.store.settle(one, turn.late);
      else turn.whole.push(one);
      return false;
    });
  }

  /** Brings some bytes. @returns the files of which more is to be brought, or nothing but their end is to be settled */
  private async call(waiting: readonly Wanted[], turn: Turn): Promise<Wanted[]> {
    const asked: { readonly wanted: Wanted; readonly piece: Piece }[] = [];
    let room = this.callBytes;
    for (const wanted of waiting.slice(0, filesOfCall)) {
      const piece = room < leastCall ? undefined : this.store.piece(wanted, room);
      if (piece === undefined) break;
      asked.push({ wanted, piece });
      room -= piece.length;
    }
    const began = performance.now();
    const brought = await this.bring(
      asked.map(({ piece }) => piece),
      turn,
    );
    this.measure(performance.now() - began);
    const left = asked.flatMap(({ wanted, piece }, at) => this.take(wanted, piece, brought[at]!, turn));
    this.store.write(false);
    return [...left, ...waiting.slice(asked.length)];
  }

  private async bring(pieces: readonly Piece[], { listing, signal }: Turn): Promise<readonly Brought[]> {
    const folder = listing.single ? posix.dirname(this.folder) : this.folder;
    try {
      return await bringPieces(this.shell, folder, pieces, signal);
    } catch (error) {
      if (error instanceof UserError) this.callBytes = Math.max(leastCall, this.callBytes / 4);
      throw error;
    }
  }

  private measure(milliseconds: number): void {
    if (milliseconds < quickCall) this.callBytes = Math.min(mostCall, this.callBytes * 2);
    if (milliseconds > slowCall) this.callBytes = Math.max(leastCall, this.callBytes / 2);
  }

  /** What is to be done about the file next; nothing where it has changed since it was listed: the next listing says how. */
  private take(wanted: Wanted, piece: Piece, { bytes, seen }: Brought, turn: Turn): Wanted[] {
    const { file, kind } = wanted;
    const changed = !kind.grows && (seen?.size !== file.size || seen.mtime !== file.mtime);
    if (seen?.inode !== file.inode || changed || bytes.length < piece.length) return [];
    if (this.store.add(wanted, piece, bytes)) {
      turn.bytes += bytes.length;
      // All that was compared is the same, and nothing was added: it is settled.
      return piece.offset + piece.length >= file.size ? this.atEnd(wanted, turn) : [wanted];
    }
    turn.rewritten.push(file.path);
    return [{ ...wanted, how: "part" }];
  }

  private atEnd(wanted: Wanted, turn: Turn): Wanted[] {
    if (wanted.kind.grows) this.store.settle(wanted, turn.late);
    else turn.whole.push(wanted);
    return [];
  }

  /** Files that are written whole get their name; an SQLite file and its log together, or neither. */
  private rename(all: readonly Wanted[], { listing, whole, late }: Turn): void {
    const here = new Set(whole.map(({ file }) => file.path));
    const unfinished = new Set(all.map(({ file }) => file.path).filter((path) => !here.has(path)));
    const listed = new Set(listing.files.map(({ path }) => path));
    for (const one of whole) {
      const { path } = one.file;
      if (isDatabase(path) && unfinished.has(otherOf(path))) continue;
      this.store.settle(one, late);
      if (path.endsWith(".db") && !listed.has(otherOf(path))) this.store.remove(otherOf(path));
    }
  }
}
