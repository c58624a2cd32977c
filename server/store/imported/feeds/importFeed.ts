/** Makes a run of what another program has written so far: the run appears in the store complete, or not at all. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../../../../shared/lib/errors.ts";
import { mirrorPath, newRunId, runsFolder } from "../../files.ts";
import { passedOver } from "../foreignFiles.ts";
import { importedBefore } from "../importedBefore.ts";
import type { ImportRequest } from "../importRequest.ts";
import type { ImportSummary } from "../importSummary.ts";
import { rewardHashes } from "../rewardHashes.ts";
import { configFile, draftFolder, inRun, nameOf, writeRunFile } from "../runDraft.ts";
import type { Feed } from "./feed.ts";
import type { FoundFeed } from "./findFeed.ts";
import { FeedRun } from "./feedRun.ts";
import { putInPlace } from "../../../../shared/lib/putInPlace.mjs";

/** @throws UserError where there is nothing in it yet, or the store cannot be written */
export async function importFeed(request: ImportRequest, found: FoundFeed): Promise<ImportSummary> {
  const began = performance.now();
  const feed = found.open({ config: request.config?.loaded, run: request.sourceRun });
  // Names and settings are known when something has been read.
  let slice = feed.next(true);
  const { run, id, draft, earlier } = await beginFeed(request, feed);
  try {
    run.begin();
    for (;;) {
      run.take(slice.parts);
      run.counts.bytes += slice.bytes;
      request.progress(slice.bytes);
      if (!slice.more) break;
      await setImmediate();
      slice = feed.next(true);
    }
    if (run.counts.rollouts + run.counts.measured === 0 && run.counts.metrics.size === 0)
      throw new UserError("There is neither a rollout nor a metric in the folder yet.", {
        file: resolve(request.folder),
        code: "import-nothing",
        action: "Import it when the training has made a step, or follow it: --follow.",
      });
    run.end(feed.about().ended?.status ?? "finished");
    const seconds = (performance.now() - began) / 1000;
    const summary = summaryOf(request, feed, run, { id, earlier, seconds });
    if (request.mirror !== undefined) putInPlace(request.mirror.root, mirrorPath(draft));
    putInPlace(draft, join(runsFolder(request.store), id));
    return summary;
  } catch (error) {
    run.close();
    rmSync(draft, { recursive: true, force: true });
    throw error;
  } finally {
    feed.close();
  }
}

interface Begun {
  readonly run: FeedRun;
  readonly id: string;
  readonly draft: string;
  readonly earlier: readonly string[];
}

/** The draft of a run, with its `run.json`; nothing is in its log yet. */
export async function beginFeed(given: ImportRequest, feed: Feed): Promise<Begun> {
  const named = feed.about().name;
  const request = given.name === undefined && named !== undefined ? { ...given, name: named } : given;
  const { config, store, folder, mirror } = request;
  const earlier = importedBefore(store, request);
  const id = newRunId(nameOf(request), new Date().toISOString(), feed.trainer);
  const draft = draftFolder(store, id);
  const home = join(runsFolder(store), id);
  writeRunFile(request, id, draft, home);
  const run = new FeedRun(draft, feed, {
    run: id,
    name: nameOf(request),
    home,
    folder: inRun(folder, mirror, home),
    site: mirror?.site,
    file: configFile(request, home),
    authored: config?.text ?? "",
    config: config?.loaded,
    bundles: config === undefined ? {} : await rewardHashes(config.loaded),
    version: request.version,
  });
  return { run, id, draft, earlier };
}

export function summaryOf(
  request: ImportRequest,
  feed: Feed,
  run: FeedRun,
  {
    id,
    earlier,
    seconds,
  }: { readonly id: string; readonly earlier: readonly string[]; readonly seconds: number },
): ImportSummary {
  const { version, groups, copies, notes } = feed.about();
  const { counts } = run;
  const hasRollouts = counts.rollouts > 0;
  return {
    run: id,
    trainer: feed.trainer,
    version,
    folder: inRun(request.folder, request.mirror, join(runsFolder(request.store), id)),
    ...(request.mirror === undefined ? {} : { site: request.mirror.site }),
    rollouts: counts.rollouts,
    steps: counts.steps.size,
    groups: hasRollouts || counts.measured > 0 ? groups : "none",
    advantages: hasRollouts ? run.advantages : null,
    copied: (hasRollouts || counts.measured > 0) && (copies || request.mirror !== undefined),
    measured: counts.measured,
    metrics: counts.metrics.size,
    bytes: counts.bytes,
    halfWritten: [],
    unscored: [],
    earlier,
    others: null,
    unestimated: counts.unestimated,
    share: null,
    repeated: false,
    evaluated: [],
    data: null,
    needs: [],
    missing: [
      ...(hasRollouts ? ["log-probs"] : counts.measured > 0 ? [] : ["rollouts"]),
      ...(counts.heldOut ? [] : ["held-out"]),
      ...(counts.metrics.size > 0 || !hasRollouts ? [] : ["the trainer's own metrics"]),
    ],
    notes: [...notes, ...passedOver(resolve(request.folder), () => true)],
    seconds,
  };
}
