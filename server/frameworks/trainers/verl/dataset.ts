/** The prompts that a configuration trains on, if they are JSON lines or Parquet on this machine. */
import { statSync } from "node:fs";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import type { RuleModel } from "../../rules/rule.ts";
import { isObject } from "../../text/values.ts";
import { isParquet, parquetSample, parquetShape } from "../../../lib/parquet.ts";
import { placeOfFile, textOfNamed } from "../../readers/verlFiles.ts";

interface DatasetRows {
  readonly count: number;
  /** The first ones; of a large Parquet file one of its form, with `""` for every value. */
  readonly rows: readonly JsonObject[];
}

const looked = 200;
const known = new Map<string, DatasetRows>();

/** undefined where a file is not there, large, or of another kind, or the user's own class reads it. */
export function rowsOf(model: RuleModel): DatasetRows | undefined {
  if (model.text("data.custom_cls.path") !== undefined) return undefined;
  const value = model.value("data.train_files");
  const files = (Array.isArray(value) ? value : [value]).map((file) => rowsOfFile(model.document.file, file));
  if (files.some((rows) => rows === undefined)) return undefined;
  return {
    count: files.reduce((all, rows) => all + (rows?.count ?? 0), 0),
    rows: files.flatMap((rows) => rows?.rows ?? []),
  };
}

function rowsOfFile(configuration: string, file: Json | undefined): DatasetRows | undefined {
  if (typeof file !== "string" || !(file.endsWith(".jsonl") || isParquet(file))) return undefined;
  const place = placeOfFile(configuration, file);
  if (place !== undefined && isParquet(place)) return ofParquet(place);
  const text = textOfNamed(configuration, file);
  if (text === undefined) return undefined;
  const found = known.get(text) ?? parsed(text);
  if (known.size > 8) known.clear();
  known.set(text, found);
  return found;
}

const tables = new Map<string, { readonly stamp: string; readonly rows: DatasetRows | undefined }>();

function ofParquet(place: string): DatasetRows | undefined {
  const stats = statSync(place);
  if (!stats.isFile()) return undefined;
  const stamp = `${stats.mtimeMs}:${stats.size}`;
  const read = tables.get(place);
  if (read?.stamp === stamp) return read.rows;
  const rows = sampled(place);
  tables.set(place, { stamp, rows });
  return rows;
}

function sampled(place: string): DatasetRows | undefined {
  try {
    return { count: parquetShape(place).rows, rows: parquetSample(place, looked) };
  } catch (error) {
    // The content does not match the name: verl will report it.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function parsed(text: string): DatasetRows {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return { count: lines.length, rows: lines.slice(0, looked).flatMap((line) => rowOf(line)) };
}

function rowOf(line: string): JsonObject[] {
  try {
    const row: Json = JSON.parse(line);
    return isObject(row) ? [row] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
