/** Stores in folders of their own, and logs written into them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runFolder } from "../../../server/store/files.ts";
import { Store } from "../../../server/store/store.ts";
import { openAttempt } from "../../../shared/log/writer.ts";
import { atExit } from "../../support/atExit.ts";
import { group, metrics, rollout, type Written } from "../log/sample.ts";

const folders: string[] = [];
const opened = new Set<Store>();
atExit(() => {
  opened.forEach((store) => store.close());
  folders.forEach((path) => rmSync(path, { recursive: true, force: true }));
});
/** A `.gradus` folder's place, removed in the end. */
export function newFolder(): string {
  const folder = join(mkdtempSync(join(tmpdir(), "gradus-store-")), ".gradus");
  folders.push(join(folder, ".."));
  return folder;
}
/** Before the end of the tests. */
export function close(store: Store): void {
  store.close();
  opened.delete(store);
}
export function newStore(): { folder: string; store: Store; open: () => Store } {
  const folder = newFolder();
  const open = (): Store => {
    const store = new Store(folder, { anyThread: true });
    opened.add(store);
    return store;
  };
  return { folder, store: open(), open };
}
export function write(
  folder: string,
  run: string,
  attempt: number,
  steps: readonly (readonly [readonly Written[], number])[],
): void {
  const log = openAttempt(runFolder(folder, run), attempt);
  for (const [records, step] of steps) {
    records.forEach((record) => log.append(record));
    log.commit(step);
  }
  log.close();
}
/** Reads all of a run, its rollouts included: a question about the curriculum reads only what 30 ms allow. */
export function ingestWhole(store: Store, run: string): void {
  store.ingestAll(run);
  while (store.ingest.rollouts.next(run));
}
export const plain = (first: number, count: number): (readonly [readonly Written[], number])[] =>
  Array.from(
    { length: count },
    (_, index) =>
      [
        [metrics(first + index), group(first + index), rollout(first + index, 0), rollout(first + index, 1)],
        first + index,
      ] as const,
  );
export const values = (store: Store, run: string, metric = "reward/total") =>
  store.queries.series({ run, metrics: [metric], from: -1, maxPoints: 2000 }).series[0];
