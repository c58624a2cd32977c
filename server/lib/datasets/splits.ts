/** Which files of a folder hold which split, by the rules of Hugging Face's `datasets` (datasets/data_files.py, 5.2). */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { matcher } from "../pattern.ts";
import { isRows } from "./tables.ts";
import { statsOf } from "../inputFile.ts";
import { formatCount } from "../../../shared/lib/format.ts";

/** Files of a folder by split, in the order in which they are read; paths begin in the folder. */
export type Splits = ReadonlyMap<string, readonly string[]>;

/** A folder with more files than this is no dataset. */
const most = 20_000;

/** Files below a folder, sorted, by paths with `/` that begin in it. Hidden ones, and folders like `__pycache__`, are left out. */
export function filesBelow(folder: string): string[] {
  const found: string[] = [];
  const visit = (below: string): void => {
    for (const { name } of readdirSync(join(folder, below), { withFileTypes: true })) {
      if (name.startsWith(".")) continue;
      const path = below === "" ? name : `${below}/${name}`;
      // The Hub's cache holds links to its files.
      const stats = statsOf(join(folder, path));
      if (stats?.isFile() === true) found.push(path);
      else if (stats?.isDirectory() === true && !name.startsWith("__")) visit(path);
      if (found.length > most)
        throw new UserError(`the folder has more than ${formatCount(most)} files`, {
          file: folder,
          code: "dataset-folder",
          action:
            "Name a folder that holds the dataset alone, a file of it, or a pattern: `data/train-*.parquet`.",
        });
    }
  };
  visit("");
  return found.sort();
}

/** The files that a pattern matches. */
export const matching = (files: readonly string[], pattern: string): string[] =>
  files.filter(matcher(pattern.replace(/^\.\//, "")));

const words: Readonly<Record<string, readonly string[]>> = {
  train: ["train", "training"],
  validation: ["validation", "valid", "dev", "val"],
  test: ["test", "testing", "eval", "evaluation"],
};
const separator = "[-._ 0-9]";

/** `data/train-00000-of-00002.parquet`, whatever its splits are called. */
const sharded = /^data\/([\w.]+)-\d{5}-of-\d{5}[^/]*\.[^/]*$/;

/** Described files, not rows. */
const described = [
  "config.json",
  "dataset_info.json",
  "dataset_infos.json",
  "dataset_dict.json",
  "state.json",
];

/** What a folder without a description of its own holds. */
export function splitsByName(files: readonly string[]): Splits {
  const rows = files.filter((file) => isRows(file) && !described.includes(basename(file)));
  const shards = grouped(rows, (file) => sharded.exec(file)?.slice(1, 2) ?? []);
  if (shards.size > 0) return shards;
  const folders = grouped(rows, (file) => splitsIn(file.split("/").slice(0, -1), inFolder));
  if (folders.size > 0) return folders;
  const names = grouped(rows, (file) => splitsIn([basename(file)], inName));
  if (names.size > 0) return names;
  return new Map(rows.length === 0 ? [] : [["train", rows]]);
}

function grouped(
  files: readonly string[],
  splitsOf: (file: string) => readonly string[],
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of files)
    for (const split of splitsOf(file)) found.set(split, [...(found.get(split) ?? []), file]);
  return found;
}

const expressions = (make: (word: string) => string): ReadonlyMap<string, RegExp> =>
  new Map(Object.entries(words).map(([split, all]) => [split, new RegExp(make(`(?:${all.join("|")})`))]));
const inFolder = expressions((word) => `^(?:.*${separator})?${word}(?:${separator}.*)?$`);
const inName = expressions((word) => `^(?:.*${separator})?${word}${separator}.*$`);

const splitsIn = (parts: readonly string[], by: ReadonlyMap<string, RegExp>): string[] =>
  [...by].filter(([, expression]) => parts.some((part) => expression.test(part))).map(([split]) => split);
