/** `gradus runs export --to hf|gguf|peft`: a checkpoint as a model that other programs load. */
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import { openBase, readWeights, writeHuggingFace, type ModelHead } from "../../../engine/formats/index.ts";
import { writeGguf } from "../../../engine/formats/gguf/index.ts";
import { isPeft, peftBase, readPeft, writePeft } from "../../../engine/formats/peft.ts";
import { weightsMustBeWhole } from "../../../run/checkpoint/sums.ts";
import { findCheckpoint } from "../checkpointNames.ts";
import { print, printJson } from "../../command.ts";
import { written } from "../written.ts";

export const modelFormats = ["hf", "gguf", "peft"] as const;
type ModelFormat = (typeof modelFormats)[number];
export const isModelFormat = (text: string): text is ModelFormat =>
  modelFormats.some((format) => format === text);

/** What each format writes into the path it is given; weights of an adapter are merged but for `peft`. */
const writers: Readonly<Record<ModelFormat, (path: string, head: ModelHead, name: string) => void>> = {
  hf: (folder, head) =>
    writeHuggingFace(folder, { shape: head.shape, weights: readWeights(head), tokenizer: head.tokenizer }),
  gguf: (file, head, name) =>
    writeGguf(file, { shape: head.shape, weights: readWeights(head), tokenizer: head.tokenizer, name }),
  peft: (folder, { path, shape }) =>
    writePeft(folder, { shape, ...readPeft(path, shape), base: peftBase(path) ?? "" }),
};

interface ModelExport {
  readonly to: ModelFormat;
  /** Folder, or the .gguf file. */
  readonly out: string | undefined;
  readonly store?: string | undefined;
  readonly json?: boolean | undefined;
}

/** @throws UserError where the checkpoint is none, has no such form, or the place is taken */
export function exportModel(words: string, { to, out, store, json }: ModelExport): void {
  if (out === undefined)
    throw new UserError(`--to ${to} needs --out: a model cannot be printed to stdout.`, {
      code: "usage",
      action: `Add --out ${to === "gguf" ? "FILE.gguf" : "FOLDER"}.`,
    });
  const path = findCheckpoint(words, store);
  weightsMustBeWhole(path);
  if (to === "peft" && !(statSync(path).isDirectory() && isPeft(path)))
    throw new UserError(`${path} has no adapter: all its weights were trained.`, {
      file: path,
      code: "no-adapter",
      action: "Export the whole model with --to hf or --to gguf.",
    });
  const place = resolve(out);
  const bytes = written(place, (draft) => writers[to](draft, openBase(path), nameOf(path)));
  if (json === true) printJson({ checkpoint: path, to, out: place, bytes });
  else print(`${place}: ${(bytes / 2 ** 20).toFixed(1)} MiB from ${path}`);
}

/** `countdown-…/checkpoints/40/policy` → countdown-…-40; a model of its own keeps its name. */
function nameOf(path: string): string {
  const match = /([^/\\]+)[/\\]checkpoints[/\\](\d+)[/\\]policy$/.exec(path);
  return match === null ? basename(path).replace(/\.gguf$/, "") : `${match[1]}-${match[2]}`;
}
