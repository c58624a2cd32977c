/**
 * A checkpoint is a Hugging Face folder that also holds `optimizer.safetensors` with the moments under the weights'
 * names, and `state.json`. It is written beside its place and renamed, so a folder of that name is whole.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../shared/errors.ts";
import {
  readHuggingFaceHead,
  readHuggingFaceWeights,
  tensorProblem,
  writeHuggingFace,
} from "./formats/huggingFace.ts";
import { fromPublic, toPublic } from "./formats/huggingFace/layout.ts";
import type { ModelHead, Weights } from "./formats/model.ts";
import { readSafetensors, writeSafetensors, type StoredTensors } from "./safetensors.ts";
import type { PolicyTokenizer } from "./tokenizers/index.ts";
import type { Shape } from "./transformer/weights.ts";

export interface Checkpoint {
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
  readonly weights: Weights;
  readonly first: Weights;
  readonly second: Weights;
  readonly updates: number;
  readonly version: number;
}

const stateSchema = z.object({ version: z.int().nonnegative(), updates: z.int().nonnegative() });

const withPrefix = (prefix: string, tensors: StoredTensors): StoredTensors =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [prefix + name, tensor]));

function writeFiles(folder: string, checkpoint: Checkpoint): void {
  const { shape, first, second, version, updates } = checkpoint;
  mkdirSync(folder, { recursive: true });
  writeHuggingFace(folder, { ...checkpoint, more: { gradus: { format: 1 } } });
  writeSafetensors(join(folder, "optimizer.safetensors"), {
    ...withPrefix("first.", toPublic(shape, first)),
    ...withPrefix("second.", toPublic(shape, second)),
  });
  const state = `${JSON.stringify({ version, updates }, null, 2)}\n`;
  writeFileSync(join(folder, "state.json"), state, { flush: true });
}

/** Writes the folder, replacing one of the same name only when the new one is whole. */
export function writeCheckpoint(folder: string, checkpoint: Checkpoint): void {
  const beside = join(dirname(folder), `.${basename(folder)}.${process.pid}.part`);
  const former = `${beside}.old`;
  try {
    rmSync(beside, { recursive: true, force: true });
    writeFiles(beside, checkpoint);
    if (existsSync(folder)) renameSync(folder, former);
    renameSync(beside, folder);
    rmSync(former, { recursive: true, force: true });
  } catch (error) {
    if (existsSync(beside)) rmSync(beside, { recursive: true, force: true });
    if (existsSync(former) && !existsSync(folder)) renameSync(former, folder);
    throw new UserError(`The checkpoint ${folder} could not be written: ${messageOf(error)}.`, {
      file: folder,
      code: "checkpoint-write",
      action: "Free some space or check the folder's rights; the run goes on from its last checkpoint.",
      cause: error,
    });
  }
}

function readState(folder: string): z.output<typeof stateSchema> {
  const file = join(folder, "state.json");
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason =
      error instanceof z.ZodError
        ? error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ")
        : messageOf(error);
    throw new UserError(`${file} does not describe a checkpoint: ${reason}.`, {
      file,
      code: "checkpoint-config",
      action: "Name a checkpoint folder that gradus wrote.",
      cause: error,
    });
  }
}

/** What can be known without reading the weights. @throws UserError where there is no such folder */
export function readCheckpointHead(folder: string): ModelHead {
  if (!existsSync(folder)) {
    throw new UserError(`There is no checkpoint ${folder}.`, {
      file: folder,
      code: "model-missing",
      action: "List a run's checkpoints with: gradus runs show RUN",
    });
  }
  return { ...readHuggingFaceHead(folder), kind: "checkpoint" };
}

/** Weights, moments and counters. @throws UserError naming the file and what is wrong with it */
export function readCheckpoint(folder: string): Checkpoint {
  const { shape, tokenizer } = readCheckpointHead(folder);
  const file = join(folder, "optimizer.safetensors");
  const moments = readSafetensors(file);
  const part = (prefix: string): Weights => {
    const own = Object.entries(moments).flatMap(([name, tensor]) =>
      name.startsWith(prefix) ? ([[name.slice(prefix.length), tensor]] as const) : [],
    );
    return fromPublic(shape, Object.fromEntries(own), (tensor, found) => tensorProblem(file, tensor, found));
  };
  return {
    shape,
    tokenizer,
    weights: readHuggingFaceWeights(folder, shape),
    first: part("first."),
    second: part("second."),
    ...readState(folder),
  };
}
