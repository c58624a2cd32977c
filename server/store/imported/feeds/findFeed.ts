/** What a folder is, that is not a dump of verl or TRL: whose files they are, and what reads them. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Writer } from "../../../../shared/run/origin.ts";
import type { Feed, FeedOptions } from "./feed.ts";
import { HookFeed } from "./hook/hookFeed.ts";
import { hookFile } from "./hook/hookFolder.ts";
import { isPrime, PrimeFeed, primeMetrics } from "./primeFeed.ts";
import { eventFile, TensorboardFeed } from "./tensorboardFeed.ts";
import { InspectFeed, inspectLog } from "./evaluations/inspectFeed.ts";
import { isVerifiers, VerifiersFeed, verifiersTraces } from "./evaluations/verifiersFeed.ts";
import { isTinker, TinkerFeed, tinkerMetrics } from "./tinker/tinkerFeed.ts";
import { isTrackio, TrackioFeed } from "./trackioFeed.ts";
import { WandbFeed, wandbFile } from "./wandb/wandbFeed.ts";

export interface FoundFeed {
  readonly trainer: Writer;
  readonly folder: string;
  readonly open: (options: FeedOptions) => Feed;
}

/** Folders below the one that is named. */
const depth = 3;

interface Kind {
  readonly trainer: Writer;
  /** Of the names in a folder, those that make a run of it: one run, whichever are there, or one run each. */
  readonly files: (names: readonly string[], folder: string) => readonly string[];
  readonly each?: true;
  readonly open: (folder: string, options: FeedOptions, file: string) => Feed;
}

/** Where `gradus_hook.py` writes, if nothing else is said. */
const isHooks = (folder: string): boolean => basename(resolve(folder)) === "gradus-rollouts";

const kinds: readonly Kind[] = [
  {
    trainer: "hook",
    // Of an exported project a trainer's event files may be there before the first rollouts.
    files: (names, folder) =>
      names.filter((name) => hookFile.test(name) || (isHooks(folder) && eventFile.test(name))),
    open: (folder, options) => new HookFeed(folder, options),
  },
  {
    trainer: "wandb",
    files: (names) => names.filter((name) => wandbFile.test(name)),
    open: (folder) => new WandbFeed(folder),
  },
  {
    trainer: "trackio",
    files: (names, folder) => names.filter((name) => isTrackio(join(folder, name))),
    each: true,
    open: (folder, { run }, file) => new TrackioFeed(join(folder, file), run),
  },
  {
    trainer: "prime_rl",
    files: (names, folder) => names.filter((name) => name === primeMetrics && isPrime(join(folder, name))),
    open: (folder) => new PrimeFeed(folder),
  },
  {
    trainer: "verifiers",
    files: (names, folder) =>
      names.filter((name) => name === verifiersTraces && isVerifiers(join(folder, name))),
    open: (folder) => new VerifiersFeed(folder),
  },
  {
    trainer: "tinker",
    files: (names, folder) => names.filter((name) => name === tinkerMetrics && isTinker(folder)),
    open: (folder) => new TinkerFeed(folder),
  },
  {
    trainer: "inspect",
    files: (names) => names.filter((name) => inspectLog.test(name)),
    each: true,
    open: (folder, _, file) => new InspectFeed(join(folder, file)),
  },
  {
    trainer: "tensorboard",
    files: (names) => names.filter((name) => eventFile.test(name)),
    open: (folder) => new TensorboardFeed(folder),
  },
];

/**
 * The folder itself counts before those in it; undefined: it is none of these.
 * @param root a folder, or a file of one
 * @throws UserError where there are several runs
 */
export function findFeed(root: string, levels = depth): FoundFeed | undefined {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return only(foundIn(dirname(root), [basename(root)]), root);
  if (stats?.isDirectory() !== true) return undefined;
  let level: readonly string[] = [root];
  for (let at = 0; at <= levels && level.length > 0; at++) {
    const next: string[] = [];
    const found: FoundFeed[] = [];
    for (const folder of level) {
      const entries = readdirSync(folder, { withFileTypes: true });
      found.push(
        ...foundIn(
          folder,
          entries.filter((entry) => entry.isFile()).map(({ name }) => name),
        ),
      );
      for (const entry of entries)
        if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
          next.push(join(folder, entry.name));
    }
    if (found.length > 0) return only(found, root);
    level = next;
  }
  return undefined;
}

/** Of the first kind that has some. */
function foundIn(folder: string, names: readonly string[]): FoundFeed[] {
  for (const kind of kinds) {
    const files = kind.files(names, folder);
    const [first] = files;
    if (first === undefined) continue;
    return (kind.each === true ? files : [first]).map((file) => ({
      trainer: kind.trainer,
      folder: kind.each === true ? join(folder, file) : folder,
      open: (options) => kind.open(folder, options, file),
    }));
  }
  return [];
}

function only(found: readonly FoundFeed[], root: string): FoundFeed | undefined {
  const [first] = found;
  if (found.length <= 1) return first;
  throw new UserError(
    `Several runs are here: ${found
      .map(({ folder }) => folder)
      .slice(0, 5)
      .join(", ")}${found.length > 5 ? ", …" : ""}.`,
    { file: root, code: "import-several", action: "Name one of them: gradus runs import FOLDER." },
  );
}
