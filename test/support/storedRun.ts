/** A store with a run in it that a real worker made, in this process. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { work } from "../../server/run/loop/worker.ts";
import { runFolder } from "../../server/store/files.ts";
import { Store } from "../../server/store/store.ts";

export interface StoredRun {
  readonly file: string;
  readonly folder: string;
  readonly store: Store;
  remove(): void;
}

/** Makes a run of a config's file in a store's folder; no one has read it yet. */
export async function recordRun(
  store: string,
  file: string,
  set: readonly string[] = [],
  name = "seen",
  id = "one",
): Promise<void> {
  const folder = runFolder(store, id);
  mkdirSync(folder, { recursive: true });
  const run = { id, file, name, set, createdAt: "2026-01-01T00:00:00Z" };
  writeFileSync(join(folder, "run.json"), JSON.stringify(run));
  await work({ folder, attempt: 0, version: "0.0.0" });
  // It names this process: whoever ends what a store's runs have left would end the test.
  rmSync(join(folder, "worker.json"), { force: true });
}

/** @param files next to the config, by their paths */
export async function storedRun(
  config: string,
  files: Readonly<Record<string, string>> = {},
  set: readonly string[] = [],
): Promise<StoredRun> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gradus-stored-")));
  const [file, store] = [join(base, "seen.gradus.yaml"), join(base, ".gradus")];
  for (const [name, text] of Object.entries({ ...files, "seen.gradus.yaml": config }))
    writeFileSync(join(base, name), text);
  await recordRun(store, file, set);
  const opened = new Store(store, { anyThread: true });
  opened.ingest.register("one");
  opened.ingestAll("one");
  return {
    file,
    folder: base,
    store: opened,
    remove: () => {
      opened.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
