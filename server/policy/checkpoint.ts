/**
 * A checkpoint is a Hugging Face folder that also holds `optimizer.safetensors` with what the optimiser keeps in our own
 * layout, and `state.json`. It is written beside its place and renamed, so a folder of that name is whole.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../shared/errors.ts";
import { readHuggingFaceHead, readHuggingFaceWeights, writeHuggingFace } from "./formats/huggingFace.ts";
import type { ModelHead, Weights } from "./formats/model.ts";
import type { OptimizerState } from "./optimizer.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";
import type { PolicyTokenizer } from "./tokenizers/index.ts";
import type { Shape } from "./transformer/weights.ts";

export interface Checkpoint {
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
  readonly weights: Weights;
  readonly optimizer: OptimizerState;
  readonly version: number;
}

const stateSchema = z.object({
  version: z.int().nonnegative(),
  updates: z.int().nonnegative(),
  optimizer: z.string(),
});

function writeFiles(folder: string, checkpoint: Checkpoint): void {
  const { version, optimizer } = checkpoint;
  mkdirSync(folder, { recursive: true });
  writeHuggingFace(folder, { ...checkpoint, more: { gradus: { format: 1 } } });
  writeSafetensors(join(folder, "optimizer.safetensors"), optimizer.tensors);
  const state = { version, updates: optimizer.updates, optimizer: optimizer.method };
  writeFileSync(join(folder, "state.json"), `${JSON.stringify(state, null, 2)}\n`, { flush: true });
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
  const { version, updates, optimizer } = readState(folder);
  return {
    shape,
    tokenizer,
    version,
    weights: readHuggingFaceWeights(folder, shape),
    optimizer: {
      method: optimizer,
      updates,
      tensors: readSafetensors(join(folder, "optimizer.safetensors")),
    },
  };
}
