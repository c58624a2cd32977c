/** The last runs of the configs that are open in some editor, kept as the store grows. Shared by all connections. */
import { messageOf } from "../../shared/lib/errors.ts";
import { alarmOf, type Verdict } from "../../shared/run/verdict.ts";
import type { RunRecord } from "../analysis/evidence/record.ts";
import type { FileRuns } from "../store/queries/evidenceQueries.ts";
import type { RemoteStore } from "../store/remote.ts";
import { realPath } from "../../shared/lib/realPath.ts";
import { withDrive } from "../../shared/lib/drive.ts";

/** Milliseconds between two looks: a live run's steps are reported together. */
const pace = 2_000;

interface CachedFileRuns {
  readonly stamp: string;
  readonly runs: FileRuns;
}

export class OpenFileRuns {
  private readonly known = new Map<string, CachedFileRuns>();
  private readonly followers = new Map<object, readonly string[]>();
  private readonly listeners = new Set<(file: string) => void>();
  private timer: NodeJS.Timeout | undefined;
  private looking = false;
  private again = false;

  constructor(
    private readonly remote: Pick<RemoteStore, "call">,
    private readonly failed: (text: string) => void,
    /** The verdict with what rollouts add to it. */
    private readonly judge: (run: string) => Promise<Verdict | null>,
    private readonly milliseconds = pace,
  ) {}

  /** undefined: not looked for yet. */
  of(file: string): FileRuns | undefined {
    return this.known.get(file)?.runs;
  }

  /** What one connection has open. */
  follow(who: object, files: readonly string[]): void {
    const before = this.files();
    this.followers.set(who, files);
    if (files.some((file) => !before.has(file))) void this.look();
  }

  leave(who: object): void {
    this.followers.delete(who);
    const files = this.files();
    for (const file of this.known.keys()) if (!files.has(file)) this.known.delete(file);
  }

  onChange(listener: (file: string) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  /** The store has grown. */
  grown(): void {
    if (this.followers.size > 0)
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        void this.look();
      }, this.milliseconds).unref();
  }

  close(): void {
    clearTimeout(this.timer);
    this.listeners.clear();
    this.followers.clear();
  }

  private files(): Set<string> {
    return new Set([...this.followers.values()].flat());
  }

  private async look(): Promise<void> {
    if (this.looking) {
      this.again = true;
      return;
    }
    this.looking = true;
    try {
      do {
        this.again = false;
        await this.compare([...this.files()]);
      } while (this.again);
    } catch (error) {
      this.failed(`evidence: ${messageOf(error)}`);
    } finally {
      this.looking = false;
    }
  }

  private async judged(record: RunRecord | null): Promise<RunRecord | null> {
    if (record === null || record.verdict === null || alarmOf({ verdict: record.verdict }) === undefined)
      return record;
    return { ...record, verdict: await this.judge(record.summary.id) };
  }

  /** Only what has a new stamp is read whole. */
  private async compare(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    const stamps = await this.remote.call("fileStamps", files.map(pathsOf));
    for (const [index, file] of files.entries()) {
      const stamp = stamps[index]!;
      if (this.known.get(file)?.stamp === stamp) continue;
      const runs = await this.remote.call("fileRuns", pathsOf(file));
      this.known.set(file, { stamp, runs: { ...runs, record: await this.judged(runs.record) } });
      for (const notify of this.listeners) notify(file);
    }
  }
}

/** As it was opened, and with links resolved: a run may have been started by either. */
export function pathsOf(file: string): readonly string[] {
  try {
    return [...new Set([file, withDrive(realPath(file))])];
  } catch {
    return [file]; // not on disk yet
  }
}
