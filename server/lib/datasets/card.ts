/** The `configs` in the head of a dataset's README.md: which files each configuration has, split by split. */
import { join } from "node:path";
import { parseDocument } from "yaml";
import { stampOf } from "../growing/fileStamp.ts";
import { limits, readText, statsOf } from "../inputFile.ts";
import { firstBeyond } from "../yamlAliases.ts";
import { isRows } from "./tables.ts";
import { matching, splitsByName, type Splits } from "./splits.ts";

interface CardConfig {
  readonly name: string;
  readonly isDefault: boolean;
  /** Patterns by split; undefined: the splits are found by the files' names. */
  readonly patterns: ReadonlyMap<string, readonly string[]> | undefined;
  readonly folder: string;
}

const known = new Map<string, { readonly stamp: string; readonly configs: readonly CardConfig[] }>();

/** In the order of the file; none where there is no README.md, or it lists none. */
export function cardConfigs(folder: string): readonly CardConfig[] {
  const file = join(folder, "README.md");
  const stats = statsOf(file);
  if (stats?.isFile() !== true || stats.size > limits.config) return [];
  const stamp = stampOf(stats);
  const found = known.get(file);
  if (found?.stamp === stamp) return found.configs;
  const configs = read(readText(file, limits.config));
  if (known.size >= 32) known.clear();
  known.set(file, { stamp, configs });
  return configs;
}

/** The one that is meant where none is named; undefined: there are several. */
export const defaultConfig = (configs: readonly CardConfig[]): CardConfig | undefined =>
  configs.length === 1
    ? configs[0]
    : (configs.find(({ isDefault }) => isDefault) ?? configs.find(({ name }) => name === "default"));

export function splitsOfConfig({ patterns, folder }: CardConfig, files: readonly string[]): Splits {
  const own = files.filter((file) => folder === "" || file.startsWith(`${folder}/`));
  if (patterns === undefined) return splitsByName(own);
  const below = (pattern: string): string => (folder === "" ? pattern : `${folder}/${pattern}`);
  const found = [...patterns].map(([split, all]) => {
    const rows = all.flatMap((pattern) => matching(own, below(pattern))).filter(isRows);
    return [split, [...new Set(rows)]] as const;
  });
  return new Map(found.filter(([, rows]) => rows.length > 0));
}

function read(text: string): CardConfig[] {
  const [, head] = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (head === undefined) return [];
  const document = parseDocument(head);
  // A card that cannot be read describes nothing: the files' names do.
  if (document.errors.length > 0 || firstBeyond(document) !== undefined) return [];
  const { configs } = mapOf(document.toJS());
  return (Array.isArray(configs) ? configs : []).flatMap((config: unknown) => configOf(mapOf(config)));
}

function configOf(config: Readonly<Record<string, unknown>>): CardConfig[] {
  const { config_name: name, data_files: files, data_dir: folder } = config;
  if (typeof name !== "string") return [];
  return [
    {
      name,
      isDefault: config["default"] === true,
      patterns: files === undefined ? undefined : patternsOf(files),
      folder: typeof folder === "string" ? folder.replace(/^\.\/|\/$/g, "") : "",
    },
  ];
}

/** A pattern, a list of them, `{split: patterns}`, or a list of `{split, path}`. */
function patternsOf(files: unknown): ReadonlyMap<string, readonly string[]> {
  if (Array.isArray(files) && files.every((one) => typeof one === "object")) {
    const entries = files.map((one: unknown) => mapOf(one));
    return new Map(entries.map(({ split, path }) => [String(split), textsOf(path)]));
  }
  const bySplit = Object.entries(mapOf(files));
  if (bySplit.length > 0) return new Map(bySplit.map(([split, all]) => [split, textsOf(all)]));
  return new Map([["train", textsOf(files)]]);
}

const textsOf = (value: unknown): string[] =>
  [value].flat().filter((one): one is string => typeof one === "string");

const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
