/** What a tracker wrote, as a run of a new store. */
import assert from "node:assert/strict";
import { importFeed } from "../../../server/store/imported/feeds/importFeed.ts";
import { findSource } from "../../../server/store/imported/findSource.ts";
import { newStore, values } from "./support.ts";

export async function imported(path: string, more: { sourceRun?: string } = {}) {
  const { folder, store } = newStore();
  const source = findSource(path);
  assert.ok(source.kind !== "dump");
  const summary = await importFeed(
    {
      store: folder,
      folder: path,
      name: undefined,
      copy: false,
      config: undefined,
      version: "0",
      progress: () => undefined,
      ...more,
    },
    source.feed,
  );
  store.ingestAll(summary.run);
  const [listed] = store.queries.list({ limit: 1 }).runs;
  const series = (name: string) => {
    const found = values(store, summary.run, name);
    return found === undefined ? undefined : { steps: [...found.steps], values: [...found.values] };
  };
  return {
    summary,
    store,
    listed,
    names: store.queries.names({ run: summary.run }),
    series,
    show: store.queries.show({ run: summary.run }),
  };
}
