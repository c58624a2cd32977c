/** What a folder to import holds. */
import { statSync } from "node:fs";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Writer } from "../../../shared/run/origin.ts";
import { findFeed, type FoundFeed } from "./feeds/findFeed.ts";
import { findLog } from "./feeds/console/findLog.ts";
import { findOutput } from "./findOutput.ts";

export type Source =
  /** Rollouts of verl or TRL, which stay where they are. */
  | { readonly kind: "dump"; readonly trainer: Writer }
  /** `log`: what the training printed, read as it is now, since a log does not say who still writes to it. */
  | { readonly kind: "feed" | "log"; readonly trainer: Writer; readonly feed: FoundFeed };

/**
 * What is there once all is written: where there is neither a dump nor a tracker's file, what the training printed.
 * @param most bytes of a named log that are looked through and read; default: all
 * @throws UserError where there is nothing to import
 */
export function findSource(root: string, most?: number): Source {
  try {
    return findGrowing(root);
  } catch (error) {
    const log = isNothing(error) ? findLog(root, most) : undefined;
    if (log === undefined) throw error;
    return { kind: "log", trainer: log.trainer, feed: log };
  }
}

const isNothing = (error: unknown): boolean =>
  error instanceof UserError && error.detail.code === "import-nothing";

/**
 * What can be followed. A training prints before it has written anything else, so its log counts as nothing yet.
 * What the folder itself is comes first; then rollouts of verl or TRL below it, next to which trackers may have written; then
 * what trackers wrote.
 * @throws UserError where there is nothing to follow
 */
export function findGrowing(root: string): Source {
  const own =
    statSync(root, { throwIfNoEntry: false })?.isFile() === true ? findFeed(root) : findFeed(root, 0);
  if (own !== undefined) return { kind: "feed", trainer: own.trainer, feed: own };
  try {
    return { kind: "dump", trainer: findOutput(root).trainer };
  } catch (error) {
    const feed = isNothing(error) ? findFeed(root) : undefined;
    if (feed === undefined) throw error;
    return { kind: "feed", trainer: feed.trainer, feed };
  }
}
