/** Rows that a script's `load_dataset` wants and that Gradus reads for it, where its Python has no `datasets`. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { isObject, type JsonObject } from "../../../../shared/lib/json.ts";
import { datasetFiles } from "../../../lib/datasets/files.ts";
import { hubDataset, isHubName } from "../../../lib/datasets/name.ts";
import { isTable, tableRows } from "../../../lib/datasets/tables.ts";
import { textLines } from "../../../lib/textLines.ts";

export interface Place {
  /** An absolute path, or a name of the Hub. */
  readonly place: string;
  readonly name: string | null;
  readonly split: string | null;
  readonly revision: string | null;
}

/** Of a large data set its first rows. */
const most = 4096;

/** undefined: they are not on this disk, or cannot be read. */
export function readPlace({ place, name, split, revision }: Place): readonly JsonObject[] | undefined {
  const paths = [name ?? undefined, split === "train" || split === null ? undefined : split];
  const found = isHubName(place)
    ? hubDataset(place, { revision: revision ?? undefined, path: paths })
    : place;
  try {
    const rows: JsonObject[] = [];
    for (const file of datasetFiles(found))
      for (const row of isTable(file) ? tableRows(file) : linesOf(file)) {
        rows.push(row);
        if (rows.length === most) return rows;
      }
    return rows;
  } catch (error) {
    // Whoever asks says which data are not there.
    if (error instanceof UserError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function* linesOf(file: string): Generator<JsonObject> {
  for (const line of textLines(file)) {
    const row: unknown = line.trim() === "" ? undefined : JSON.parse(line);
    if (isObject(row)) yield row;
  }
}
