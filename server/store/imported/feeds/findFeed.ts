/** What a folder is, that is not a dump of verl or TRL: whose files they are, and what reads them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Trainer } from "../../../../shared/run/origin.ts";
import type { Feed, FeedOptions } from "./feed.ts";
import { HookFeed, hookFile } from "./hookFeed.ts";

export interface FoundFeed {
  readonly trainer: Trainer;
  readonly folder: string;
  readonly open: (options: FeedOptions) => Feed;
}

/** Folders below the one that is named. */
const depth = 3;

interface Kind {
  readonly trainer: Trainer;
  readonly is: (names: readonly string[]) => boolean;
  readonly open: (folder: string, options: FeedOptions) => Feed;
}

const kinds: readonly Kind[] = [
  {
    trainer: "hook",
    is: (names) => names.some((name) => hookFile.test(name)),
    open: (folder, options) => new HookFeed(folder, options),
  },
];

/** The folder itself counts before those in it; undefined: it is none of these. */
export function findFeed(root: string, levels = depth): FoundFeed | undefined {
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  let level: readonly string[] = [root];
  for (let at = 0; at <= levels && level.length > 0; at++) {
    const next: string[] = [];
    for (const folder of level) {
      const entries = readdirSync(folder, { withFileTypes: true });
      const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
      const kind = kinds.find(({ is }) => is(names));
      if (kind !== undefined)
        return { trainer: kind.trainer, folder, open: (options) => kind.open(folder, options) };
      for (const entry of entries)
        if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
          next.push(join(folder, entry.name));
    }
    level = next;
  }
  return undefined;
}
