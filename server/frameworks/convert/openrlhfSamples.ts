/** How many prompts OpenRLHF reads of its data, in each episode. */
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { isParquet, parquetShape } from "../../lib/parquet.ts";
import { placeOfFile } from "../verl/files.ts";
import { pathFrom } from "./paths.ts";
import type { Settings } from "./settings.ts";

interface Samples {
  /** undefined: nothing says it. */
  readonly samples: number | undefined;
  /** What says it: the file's own rows, or the most that are read of it. */
  readonly from: "rows" | "most";
}

export function samplesOf(settings: Settings): Samples {
  const most = settings.number("data.max_samples");
  const rows = rowsOf(settings);
  return rows === undefined || (most ?? rows) < rows
    ? { samples: most, from: "most" }
    : { samples: rows, from: "rows" };
}

/** Of one Parquet file, which has their number at its end; a file of lines would be read as a whole. */
function rowsOf(settings: Settings): number | undefined {
  const name = settings.text("data.prompt_dataset");
  if (name === undefined || !isParquet(name)) return undefined;
  const place = placeOfFile(resolve(settings.file), pathFrom(settings.file, name));
  if (place === undefined) return undefined;
  try {
    return parquetShape(place).rows;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
