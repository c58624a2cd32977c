/** Rollouts that the file of `gradus hook` has written, as `--rollouts` takes them: a folder, or one file of it. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { RecordedRow } from "../../analysis/recorded.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { HookFeed } from "../../store/imported/feeds/hook/hookFeed.ts";
import { hookFile } from "../../store/imported/feeds/hook/hookFolder.ts";

/** The rollouts of each step, in their order; undefined: it is something else. */
export function hookRollouts(path: string, config: RunConfig): Iterable<readonly RecordedRow[]> | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true)
    return readdirSync(path).some((name) => hookFile.test(name))
      ? steps(new HookFeed(path, { config }), path)
      : undefined;
  const name = basename(path);
  return stats !== undefined && hookFile.test(name)
    ? steps(new HookFeed(dirname(path), { config }, name), path)
    : undefined;
}

function* steps(feed: HookFeed, file: string): Generator<readonly RecordedRow[]> {
  for (let more = true; more;) {
    const slice = feed.next(true);
    for (const { rows = [], step } of slice.parts)
      if (rows.length > 0)
        yield rows.map((row, line) => ({ row, place: { file: `${file}, step ${step}`, line } }));
    more = slice.more;
  }
}
