/** A worker that trains nothing: it takes into a run what another program writes, until that program has ended. */
import { setImmediate, setTimeout as wait } from "node:timers/promises";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";
import { readControl } from "../../../../shared/run/controlFile.ts";
import { hasLostRun, takeLease } from "../../../../shared/run/lease.ts";
import type { RunFile } from "../../../../shared/run/run.ts";
import { limits, readText } from "../../../lib/inputFile.ts";
import { authoredPath } from "../../files.ts";
import { findSource, type Source } from "../findSource.ts";
import { recordedConfig } from "../recordedConfig.ts";
import { rewardHashes } from "../rewardHashes.ts";
import { DumpFeed } from "./dumpFeed.ts";
import type { Feed } from "./feed.ts";
import { endOf, left, readThrough, type FollowEnd } from "./followEnd.ts";
import { FeedRun } from "./feedRun.ts";
import { RemoteLooks, type RemoteFolder } from "./remoteLooks.ts";
import { existsSync } from "node:fs";

export interface FollowOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly run: RunFile;
  /** What is read. */
  readonly source: string;
  /** Where `source` mirrors a folder of another machine. */
  readonly remote?: RemoteFolder | undefined;
  readonly version: string;
  /** Milliseconds between looks, and since the last write after which the program counts as ended; default: by its steps' time. */
  readonly every?: number;
  readonly quiet?: number;
}

/** Milliseconds between looks for a stop, while another machine is waited for. */
const stopEvery = 250;

/** @returns the process's exit code */
export async function followFeed({ every = 500, quiet, ...options }: FollowOptions): Promise<number> {
  const lease = takeLease(options.folder, 0, options.version);
  const stopped = new AbortController();
  process.on("SIGTERM", () => stopped.abort());
  const looks = options.remote && new RemoteLooks(options.remote, stopped.signal);
  const watch = looks && setInterval(() => stopAsked(options.folder) && stopped.abort(), stopEvery);
  // A feed that opens half of a folder may take it for another training's.
  await looks?.look();
  const found = findSource(options.source);
  const feed = open(options, found);
  const run = await runOf(options, feed);
  try {
    let slice = feed.next(false);
    let grew = false;
    let whole = false;
    run.begin();
    looks?.begin((event) => run.event(event));
    for (;;) {
      lease.check();
      run.take(slice.parts);
      looks?.took(slice);
      grew ||= whole && slice.parts.length > 0;
      whole ||= !slice.more;
      run.counts.bytes += slice.bytes;
      const end =
        stopped.signal.aborted || stopAsked(options.folder)
          ? left
          : slice.more
            ? undefined
            : found.kind === "log"
              ? readThrough(feed)
              : endOf(feed, run, { quiet, grew });
      if (end !== undefined) {
        finish(feed, run, end);
        return 0;
      }
      if (slice.more) await setImmediate();
      else {
        await wait(looks?.every ?? every, undefined, { signal: stopped.signal }).catch(() => undefined);
        await looks?.look();
      }
      slice = feed.next(false);
    }
  } catch (error) {
    // A log that cannot grow takes no end, either; the process says why.
    if (hasLostRun(error) || isUnwritten(error)) throw error;
    const action = error instanceof UserError ? ` ${error.detail.action ?? ""}` : "";
    run.end("failed", `The folder can no longer be read: ${messageOf(error)}.${action}`);
    return 1;
  } finally {
    clearInterval(watch);
    feed.close();
    lease.release();
  }
}

const isUnwritten = (error: unknown): boolean =>
  error instanceof UserError && ["disk-full", "log-not-writable"].includes(error.detail.code ?? "");

/** What waited for more of its step comes now. */
function finish(feed: Feed, run: FeedRun, { status, message }: FollowEnd): void {
  for (let more = true; more;) {
    const slice = feed.next(true);
    run.take(slice.parts);
    more = slice.more;
  }
  run.end(status, message);
}

function stopAsked(runFolder: string): boolean {
  return readControl(runFolder)
    .toString("utf8")
    .split("\n")
    .some((line) => /"action":"stop"/.test(line));
}

function open({ folder, run, source }: FollowOptions, found: Source): Feed {
  const config = recordedConfig(folder, authoredOf(folder));
  const options = { config, run: run.sourceRun };
  return found.kind === "dump" ? new DumpFeed(source, options) : found.feed.open(options);
}

const authoredOf = (folder: string): string =>
  existsSync(authoredPath(folder)) ? readText(authoredPath(folder), limits.source) : "";

async function runOf({ folder, run, source, version }: FollowOptions, feed: Feed): Promise<FeedRun> {
  const authored = authoredOf(folder);
  const config = recordedConfig(folder, authored);
  return new FeedRun(folder, feed, {
    run: run.id,
    name: run.name,
    home: folder,
    folder: source,
    site: run.site,
    file: run.file,
    authored,
    config,
    bundles: config === undefined ? {} : await rewardHashes(config),
    version,
  });
}
