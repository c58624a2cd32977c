/** What is imported through a mirror is what is imported here: of every trainer and tracker. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { logStart, readCommitted } from "../../../shared/log/reader.ts";
import { here } from "../../../server/sites/here.ts";
import { Mirror } from "../../../server/sites/mirror.ts";
import { mirrorPath, readRunFile, runFolder } from "../../../server/store/files.ts";
import { importFeed } from "../../../server/store/imported/feeds/importFeed.ts";
import { findSource } from "../../../server/store/imported/findSource.ts";
import type { ImportRequest } from "../../../server/store/imported/importRequest.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { loadReaders } from "../../../server/store/imported/readers.ts";
import { close, ingestWhole, newStore } from "../store/support.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-mirrored-"));
after(() => rmSync(base, { recursive: true, force: true }));

const fixtures = [
  ...["verl", "verlOlder", "trl"].map((name) => `imported/${name}`),
  ...["tensorboard", "wandb", "prime/sums", "primeEpisodes/sums", "trackio"].map(
    (name) => `trackers/${name}`,
  ),
].flatMap((name) => runsIn(resolve("test/fixtures", name)));

/** A tracker's fixture may hold several runs. */
function runsIn(path: string): string[] {
  try {
    findSource(path);
    return [path];
  } catch {
    return readdirSync(path).map((name) => join(path, name));
  }
}

/** A run of a store of its own, as numbers and texts that name neither it nor a place. */
async function imported(request: Pick<ImportRequest, "folder" | "mirror">) {
  const { folder: store, store: opened } = newStore();
  const whole = {
    ...{ store, name: undefined, copy: false, config: undefined, version: "0" },
    ...{ progress: () => undefined, ...request },
  };
  const source = findSource(request.folder);
  const summary = await (source.kind === "dump" ? importRun(whole) : importFeed(whole, source.feed));
  const home = runFolder(store, summary.run);
  await loadReaders();
  // Rollouts that lie in the mirror's files are read there.
  ingestWhole(opened, summary.run);
  const counted = opened.queries.show({ run: summary.run }).origin?.rollouts;
  close(opened);
  const text = (value: unknown): string =>
    JSON.stringify(value).replaceAll(summary.folder, "FOLDER").replaceAll(summary.run, "RUN");
  const records = readCommitted(home, 0, logStart).steps.flatMap((step) => step.records);
  return {
    home,
    site: summary.site,
    counted,
    said: text({ ...summary, seconds: 0, copied: true, site: undefined }),
    records: records
      .filter(({ kind }) => kind !== "start")
      .map((record) => text({ ...record, relative: "" })),
  };
}

describe("an import through a mirror", () => {
  for (const fixture of fixtures)
    it(`is that of ${fixture.split("/fixtures/")[1]}`, async () => {
      const there = join(base, `${fixtures.indexOf(fixture)}`, basename(fixture));
      cpSync(fixture, there, { recursive: true, preserveTimestamps: true });
      const local = await imported({ folder: there });
      const root = join(base, `${fixtures.indexOf(fixture)}-mirror`, "mirror");
      const mirror = new Mirror(here(), there, root);
      await mirror.pull();
      rmSync(there, { recursive: true });
      const site = { site: "box", folder: there };
      const remote = await imported({ folder: mirror.local, mirror: { root, site } });
      assert.deepEqual(remote.site, site);
      assert.equal(remote.said, local.said);
      assert.equal(remote.counted, local.counted);
      assert.deepEqual(remote.records, local.records);
      assert.ok(remote.records.length > 2);
      assert.equal(existsSync(root), false, "it became a part of the run");
      assert.equal(readRunFile(remote.home)?.imported, join(mirrorPath(remote.home), basename(fixture)));
    });
});
