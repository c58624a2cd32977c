/** What a folder to import holds. */
import { statSync } from "node:fs";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Trainer } from "../../../shared/run/origin.ts";
import { findFeed, type FoundFeed } from "./feeds/findFeed.ts";
import { findOutput } from "./findOutput.ts";

export type Source =
  /** Rollouts of verl or TRL, which stay where they are. */
  | { readonly kind: "dump"; readonly trainer: Trainer }
  | { readonly kind: "feed"; readonly trainer: Trainer; readonly feed: FoundFeed };

/**
 * What the folder itself is comes first; then rollouts of verl or TRL below it, next to which trackers may have written; then
 * what trackers wrote.
 * @throws UserError where there is nothing to import
 */
export function findSource(root: string): Source {
  const own =
    statSync(root, { throwIfNoEntry: false })?.isFile() === true ? findFeed(root) : findFeed(root, 0);
  if (own !== undefined) return { kind: "feed", trainer: own.trainer, feed: own };
  try {
    return { kind: "dump", trainer: findOutput(root).trainer };
  } catch (error) {
    const nothing = error instanceof UserError && error.detail.code === "import-nothing";
    const feed = nothing ? findFeed(root) : undefined;
    if (feed === undefined) throw error;
    return { kind: "feed", trainer: feed.trainer, feed };
  }
}
