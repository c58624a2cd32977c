/** Says where the rollouts of every step lie, the newest steps first. */
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../../../shared/lib/errors.ts";
import type { PlacedRecord } from "../../../shared/log/records.ts";
import type { DumpTrainer } from "../../../shared/run/origin.ts";
import { parseJson } from "../../../shared/rollouts/rollouts.ts";
import { parquetShape } from "../../lib/parquet.ts";
import type { StepFile } from "./findOutput.ts";
import { fileStamp, LineScanner, withTail } from "./scanLines.ts";

/** A file with the rollouts of a step. */
export interface PlacedSource extends StepFile, Pick<PlacedRecord, "relative"> {
  /** Where it is read, if that is not yet where it is going to be. */
  readonly now?: string;
}
export interface PlaceRequest {
  readonly trainer: DumpTrainer;
  readonly terms: PlacedRecord["terms"];
  /** Rollouts of a group; undefined: unknown. */
  readonly group: number | undefined;
  /** Steps whose files have rollouts of an evaluation. */
  readonly evaluated: readonly number[];
  readonly progress: (bytes: number) => void;
}
export interface PlacedFiles {
  /** The newest step first; steps without a rollout are left out. */
  readonly records: readonly PlacedRecord[];
  readonly rollouts: number;
  readonly bytes: number;
  /** Files whose last line was being written. */
  readonly halfWritten: readonly string[];
  /** Rollouts whose recorded score is NaN, by file and line from 1; in the files' order. */
  readonly unscored: readonly string[];
}

/** @throws UserError where no file holds a rollout */
export async function placeFiles(
  request: PlaceRequest & { readonly sources: readonly PlacedSource[] },
): Promise<PlacedFiles> {
  const scanner = new LineScanner();
  const records: PlacedRecord[] = [];
  const found: FoundInFiles = { halfWritten: [], unscored: [] };
  let bytes = 0;
  for (const source of request.sources.toSorted((one, other) => other.step - one.step)) {
    const record = placeFile(request, scanner, source, found);
    bytes += record.size;
    if (record.count > 0) records.push(record);
    await setImmediate();
  }
  const [newest] = request.sources;
  if (records.length === 0)
    throw new UserError("The files hold no rollout.", {
      ...(newest === undefined ? {} : { file: newest.file }),
      code: "import-nothing",
      action: "Import the folder when the trainer has written a step.",
    });
  const { halfWritten, unscored } = found;
  const rollouts = records.reduce((sum, { count }) => sum + count, 0);
  return { records, rollouts, bytes, halfWritten, unscored: unscored.reverse() };
}

/** What is told apart of several files. */
interface FoundInFiles {
  readonly halfWritten: string[];
  readonly unscored: string[];
}

/** One of them. */
export const placeFile = (
  request: PlaceRequest,
  scanner: LineScanner,
  source: PlacedSource,
  found: FoundInFiles,
): PlacedRecord =>
  request.trainer === "verl" ? ofLines(request, scanner, source, found) : ofParquet(request, source);

function ofLines(
  request: PlaceRequest,
  scanner: LineScanner,
  source: PlacedSource,
  found: FoundInFiles,
): PlacedRecord {
  const scanned = scanner.scan(source.now ?? source.file, request.progress);
  const whole = isObject(scanned.tail.bytes);
  if (!whole && scanned.tail.bytes.toString("utf8").trim() !== "")
    found.halfWritten.push(basename(source.file));
  const columns = whole ? withTail(scanned) : scanned.columns;
  const { size, mtime, unscored } = scanned;
  // The newest step comes first.
  for (const line of unscored.toReversed())
    if (line < columns.offset.length) found.unscored.push(`${basename(source.file)}:${line + 1}`);
  return { ...common(request, source), size, mtime, count: columns.offset.length, columns };
}

/** A last line without a line break: whole, or what there was when its writer ended. */
function isObject(bytes: Buffer): boolean {
  if (bytes.length === 0) return false;
  try {
    const value: unknown = parseJson(bytes.toString("utf8"));
    return typeof value === "object" && value !== null;
  } catch {
    return false; // half a line
  }
}

function ofParquet(request: PlaceRequest, source: PlacedSource): PlacedRecord {
  const file = source.now ?? source.file;
  const stamp = fileStamp(file, request.progress);
  return { ...common(request, source), ...stamp, count: parquetShape(file).rows, columns: {} };
}

const common = (
  { trainer, terms, group, evaluated }: PlaceRequest,
  { step, file, relative }: PlacedSource,
): Pick<PlacedRecord, "kind" | "step" | "trainer" | "file" | "relative" | "terms" | "group" | "use"> => ({
  kind: "placed",
  step,
  trainer,
  file,
  relative,
  terms,
  ...(group === undefined ? {} : { group }),
  ...(evaluated.includes(step) ? { use: "evaluate" } : {}),
});
