/**
 * The files that a config's data lie in: one that is named, those that a pattern matches, the training split of a folder,
 * or of a dataset in the Hugging Face cache. A folder is one that `save_to_disk` wrote, or holds files of rows as
 * `load_dataset` takes them.
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { staticFolder } from "../pattern.ts";
import { cardConfigs, defaultConfig, splitsOfConfig } from "./card.ts";
import { downloadCommand, snapshotOf } from "./hub.ts";
import { hubName, isHubDataset, isPattern, type HubName } from "./name.ts";
import { savedFiles, savedSplits } from "./saved.ts";
import { filesBelow, matching, splitsByName, type Splits } from "./splits.ts";
import { statsOf } from "../inputFile.ts";

const isFolder = (path: string): boolean => statsOf(path)?.isDirectory() === true;

/**
 * In the order in which their rows are read, at least one. A path that leads nowhere is its own file: whoever reads it
 * finds out.
 * @param place as `datasetPlace` makes it
 * @throws UserError where the folder, the pattern or the Hub's name holds no rows, or more than one split and no `train`
 */
export function datasetFiles(place: string): readonly string[] {
  if (isHubDataset(place)) return hubFiles(hubName(place));
  if (isFolder(place)) return whole(filesOf(place, place));
  if (existsSync(place) || !isPattern(basename(place))) return [place];
  return matchingFiles(place);
}

function matchingFiles(pattern: string): readonly string[] {
  const folder = staticFolder(pattern);
  const found = isFolder(folder) ? matching(filesBelow(folder), pattern.slice(folder.length + 1)) : [];
  if (found.length > 0) return whole(found.map((file) => join(folder, file)));
  throw new UserError(`no file matches \`${basename(pattern)}\``, {
    file: pattern,
    code: "dataset-missing",
    action: "Check the pattern; it is relative to the config's folder.",
  });
}

/** @param name how the person names it, for what is wrong */
function filesOf(folder: string, name: string): readonly string[] {
  const splits = savedSplits(folder);
  if (splits !== undefined) return filesOf(join(folder, splitOf(splits, name)), name);
  const saved = savedFiles(folder);
  if (saved !== undefined) return saved;
  const found = splitsOf(folder, name);
  return inFolder(folder, found.get(splitOf([...found.keys()], name)));
}

const inFolder = (folder: string, files: readonly string[] | undefined): readonly string[] =>
  (files ?? []).map((file) => join(folder, file));

/** By what the folder says of itself, else by its files' names. */
function splitsOf(folder: string, name: string): Splits {
  const files = filesBelow(folder);
  const configs = cardConfigs(folder);
  const config = defaultConfig(configs);
  if (configs.length > 0 && config === undefined)
    throw new UserError(
      `\`${basename(name)}\` has several configurations: ${shown(configs.map((one) => one.name))}`,
      {
        code: "dataset-config",
        action: isHubDataset(name)
          ? `Name one: \`${name}/${configs[0]?.name}\`.`
          : "Name the files of one: `folder/train-*.parquet`.",
      },
    );
  const found = config === undefined ? splitsByName(files) : splitsOfConfig(config, files);
  if (found.size > 0) return found;
  throw new UserError(`there are no rows in the folder \`${basename(name)}\``, {
    file: folder,
    code: "dataset-folder",
    action: "A dataset's folder holds JSONL, Parquet or Arrow files, or is one that `save_to_disk` wrote.",
  });
}

function splitOf(splits: readonly string[], name: string): string {
  if (splits.includes("train")) return "train";
  const [only] = splits;
  if (only !== undefined && splits.length === 1) return only;
  throw new UserError(`\`${basename(name)}\` has no split \`train\`: it has ${shown(splits)}`, {
    code: "dataset-split",
    action: isHubDataset(name) ? `Name one: \`${name}/${only}\`.` : "Name the files of one, or its folder.",
  });
}

function hubFiles(hub: HubName): readonly string[] {
  const { folder, revision } = snapshotOf(hub);
  const path = hub.path.replace(/\/+$/, "");
  const name = `hf://datasets/${hub.repo}${hub.revision === undefined ? "" : `@${hub.revision}`}`;
  try {
    return whole(filesAt(folder, path, name));
  } catch (error) {
    if (!(error instanceof UserError) || !incomplete.includes(error.detail.code ?? "")) throw error;
    const had = filesBelow(folder);
    throw new UserError(
      `\`${hub.repo}\` in the Hugging Face cache lacks \`${path === "" ? "data files" : path}\` at the revision \`${revision}\`: it has ${shown(had) || "no file"}`,
      {
        code: "hub-file",
        action: `Correct the path, or download it: \`${downloadCommand(hub, isFile(path) ? path : "")}\`.`,
      },
    );
  }
}

/** Names that a message lists. */
const most = 8;

const shown = (names: readonly string[]): string =>
  `${names
    .slice(0, most)
    .map((name) => `\`${name}\``)
    .join(", ")}${names.length > most ? ", …" : ""}`;

/** What a download puts right. */
const incomplete: readonly string[] = ["dataset-missing", "dataset-folder", "dataset-shards"];
const isFile = (path: string): boolean => /\.\w+$/.test(path);

/** @param path a file, a folder, a pattern, or a configuration, a split, or both */
function filesAt(folder: string, path: string, name: string): readonly string[] {
  if (path === "") return filesOf(folder, name);
  const place = join(folder, path);
  if (isFolder(place)) return filesOf(place, `${name}/${path}`);
  if (existsSync(place)) return [place];
  if (isPattern(path)) return inFolder(folder, some(matching(filesBelow(folder), path)));
  return inFolder(folder, some(named(folder, path, name)));
}

function some(files: readonly string[] | undefined): readonly string[] {
  if (files !== undefined && files.length > 0) return files;
  throw new UserError("there is no such file", { code: "dataset-missing" });
}

/** The files of `config`, `split` or `config/split`. */
function named(folder: string, path: string, name: string): readonly string[] | undefined {
  const [first = "", ...rest] = path.split("/");
  const files = filesBelow(folder);
  const configs = cardConfigs(folder);
  const config = configs.find((one) => one.name === first);
  const below = files.filter((file) => file.startsWith(`${first}/`));
  if (rest.length === 0) {
    if (config === undefined) return splitsOf(folder, name).get(first);
    const splits = splitsOfConfig(config, files);
    return splits.get(splitOf([...splits.keys()], `${name}/${path}`));
  }
  const splits = config === undefined ? splitsByName(below) : splitsOfConfig(config, files);
  return rest.length === 1 ? splits.get(rest[0] ?? "") : undefined;
}

/** `train-00000-of-00002.parquet` alone is half a dataset. */
function whole(files: readonly string[]): readonly string[] {
  const [first = ""] = files;
  const [, of = "0"] = /-\d{5}-of-(\d{5})\.\w+$/.exec(first) ?? [];
  if (files.length >= Number(of) || files.some((file) => !/-of-\d{5}\.\w+$/.test(file))) return files;
  throw new UserError(`only ${files.length} of the ${Number(of)} files of \`${basename(first)}\` are there`, {
    file: first,
    code: "dataset-shards",
    action: "Put the others next to it, or name the one file.",
  });
}
