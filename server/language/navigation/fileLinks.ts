/** The files that a config names: parents, reward functions, datasets, models, texts. */
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Range } from "../../lib/lines.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { isHubDataset } from "../../lib/datasets/name.ts";
import { parentFile } from "../../config/extend.ts";
import { fileReference, takesFile, type FileSlot } from "../../config/check/method.ts";
import { textOf, type SourceNode } from "../../config/text/node.ts";
import { slotOf } from "../spot.ts";
import { lastKey, visits, type Visit } from "../walk.ts";
import { statsOf } from "../../lib/inputFile.ts";

interface FileLink {
  readonly range: Range;
  /** Absolute; it is there. */
  readonly file: string;
  /** The function that is meant. */
  readonly export?: string;
  readonly tooltip: string;
}

/** Parameters of methods that take a file. */
const fileKeys = new Set(["dataset", "corpus", "path"]);

export function fileLinks(root: SourceNode | undefined, file: string, merged?: SourceNode): FileLink[] {
  if (root === undefined) return [];
  const found: FileLink[] = [];
  for (const visit of visits(root, merged)) {
    const link = visit.node.kind === "scalar" ? linkOf(visit, file) : undefined;
    if (link !== undefined) found.push(link);
  }
  return found;
}

function linkOf(visit: Visit, by: string): FileLink | undefined {
  const { node, path } = visit;
  const text = textOf(node);
  if (text === undefined || text === "" || text.startsWith("${env:")) return undefined;
  const { range, folder } = node.origin;
  if (path[0] === "extends" && path.length <= 2) return parentLink(text, range, by);
  const slot = ownSlot(visit);
  const reference = slot === undefined ? undefined : fileReference(text);
  if (slot !== undefined && reference !== undefined) {
    const name = reference.export ?? usualNames[slot][reference.language];
    const noun = slot === "environment" ? "environment" : "function";
    return existing(resolve(folder, reference.path), range, `Open ${reference.path}, ${noun} ${name}`, name);
  }
  return isFile(visit) ? existing(placeOf(folder, text), range, `Open ${basename(text)}`) : undefined;
}

/** Of a dataset in the Hugging Face cache its first file. */
function placeOf(folder: string, name: string): string {
  if (!isHubDataset(name)) return resolve(folder, name);
  try {
    return datasetFiles(name)[0] ?? name;
  } catch (error) {
    if (error instanceof UserError) return name;
    throw error;
  }
}

function parentLink(name: string, range: Range, by: string): FileLink | undefined {
  const parent = parentFile(name, by);
  if (parent === undefined) return undefined;
  const tooltip = parent.preset ? `Open the preset ${name}` : `Open ${basename(parent.file)}`;
  return { range, file: parent.file, tooltip };
}

/** What is looked for in a file where the config names nothing in it. */
const usualNames: Readonly<Record<FileSlot, Readonly<Record<"script" | "python", string>>>> = {
  reward: { script: "score", python: "compute_score" },
  environment: { script: "default", python: "Environment" },
  tool: { script: "default", python: "tool" },
};

/** `use: ./brevity.ts`, or the short form: `play: ./guess.ts`. */
function ownSlot({ spot, path }: Visit): FileSlot | undefined {
  const slot = slotOf(spot);
  const named = spot?.kind === "method" || path.at(-1) !== "use";
  return slot !== undefined && named && takesFile(slot) ? slot : undefined;
}

function isFile({ spot, path, parent }: Visit): boolean {
  if (spot?.kind === "shape" && spot.shape.kind === "path") return true;
  // The short form of a model names its base.
  if (spot?.kind === "shape" && spot.shape.kind === "map" && spot.shape.short === "base") return true;
  const last = lastKey(path);
  return (
    last !== undefined &&
    fileKeys.has(last) &&
    parent?.spot?.kind === "shape" &&
    parent.spot.shape.kind === "slot"
  );
}

function existing(file: string, range: Range, tooltip: string, name?: string): FileLink | undefined {
  const found = statsOf(file);
  const readable =
    found?.isDirectory() === true ? describing(file) : found?.isFile() === true ? file : undefined;
  if (readable === undefined || isBinary(readable)) return undefined;
  return { range, file: readable, tooltip, ...(name === undefined ? {} : { export: name }) };
}

/** An editor opens files: of a model's folder, the one that describes the model. */
const describing = (folder: string): string | undefined =>
  ["config.json", "adapter_config.json", "state.json"]
    .map((name) => join(folder, name))
    .find((file) => existsSync(file));

const isBinary = (file: string): boolean => /\.(gguf|safetensors|bin|parquet|arrow)$/.test(file);
