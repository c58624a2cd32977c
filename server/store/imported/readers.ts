/**
 * What reads other trainers' files, loaded when a store has an imported run: configs and Parquet would be most of what a
 * store's thread loads. `Store.ready` sees to it before a question is answered.
 */
import type { RolloutReader } from "../../analysis/imported/rolloutReader.ts";
import type { PlacedRows } from "../queries/placedRows.ts";

export interface Readers {
  readonly RolloutReader: typeof RolloutReader;
  readonly PlacedRows: typeof PlacedRows;
}

let loaded: Readers | undefined;

/** @throws where `loadReaders` has not been called */
export function readers(): Readers {
  if (loaded !== undefined) return loaded;
  throw new Error("the readers of imported runs are not loaded");
}

export async function loadReaders(): Promise<void> {
  if (loaded !== undefined) return;
  const [{ RolloutReader }, { PlacedRows }] = await Promise.all([
    import("../../analysis/imported/rolloutReader.ts"),
    import("../queries/placedRows.ts"),
  ]);
  loaded = { RolloutReader, PlacedRows };
}
