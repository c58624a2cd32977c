/**
 * A checkpoint is a Hugging Face folder that also holds `optimizer.safetensors` with what the optimiser keeps (in our
 * own layout), `heads.safetensors` where the model has heads, and `state.json`. Under an adapter it is PEFT's folder
 * instead, with the base's path and the hash of its weights, or the base itself in `base/` where no file has it. It is
 * written next to its place and renamed, so a folder of that name is whole.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { fingerprint } from "../formats/fingerprint.ts";
import { openHuggingFaceWeights, readHuggingFaceHead, writeHuggingFace } from "../formats/huggingFace.ts";
import { configOf } from "../formats/huggingFace/writeConfig.ts";
import type { ModelHead, OpenWeights, Weights } from "../formats/model.ts";
import { isPeft, readPeft, writePeft, type PeftAdapter } from "../formats/peft.ts";
import type { OptimizerState } from "./optimizer.ts";
import { headShapes, type Parts } from "../parts.ts";
import { readSafetensors, writeSafetensors, type StoredTensors } from "./safetensors.ts";
import type { PolicyTokenizer } from "../tokenizers/types.ts";
import { checkStoredTokens, writeTokenizer } from "../tokenizers/index.ts";
import type { Adapter } from "../transformer/lowRank.ts";
import type { Shape } from "../transformer/weights.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { relativePath } from "../../../shared/lib/slashes.ts";

interface Common {
  readonly shape: Shape;
  readonly tokenizer: PolicyTokenizer;
  /** Values of the heads by name. */
  readonly heads: StoredTensors;
  readonly optimizer: OptimizerState;
  readonly version: number;
}
export type Checkpoint = Common &
  ({ readonly adapter?: undefined; readonly open: OpenWeights } | { readonly adapter: PeftAdapter });
/** `base`: the path of an adapter's base model, or its weights where they are nowhere else. */
type NewCheckpoint = Common &
  (
    | { readonly adapter?: undefined; readonly weights: Weights }
    | { readonly adapter: PeftAdapter; readonly base: string | Weights }
  );

const stateSchema = z.object({
  version: z.int().nonnegative(),
  updates: z.int().nonnegative(),
  optimizer: z.string(),
});
const HEADS = "heads.safetensors";

const writeJson = (file: string, value: unknown): void => {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
};

function writeModel(folder: string, checkpoint: NewCheckpoint): void {
  const { shape, tokenizer } = checkpoint;
  if (checkpoint.adapter === undefined) {
    writeHuggingFace(folder, { ...checkpoint, more: { gradus: { format: 1 } } });
    return;
  }
  const { base } = checkpoint;
  const at = typeof base === "string" ? resolve(base) : "base";
  if (typeof base !== "string")
    writeHuggingFace(join(folder, "base"), {
      shape,
      weights: base,
      tokenizer,
      more: { gradus: { format: 1 } },
    });
  const sha256 = fingerprint(typeof base === "string" ? at : join(folder, "base"));
  writePeft(folder, { shape, ...checkpoint.adapter, base: at });
  writeJson(join(folder, "config.json"), {
    ...configOf(shape, tokenizer),
    // A folder that is moved with its base finds it from where it lies itself.
    gradus: {
      format: 1,
      base: { path: at, ...(typeof base === "string" && { relative: relativePath(folder, at) }), sha256 },
    },
  });
  writeTokenizer(folder, tokenizer);
}

function writeFiles(folder: string, checkpoint: NewCheckpoint): void {
  mkdirSync(folder, { recursive: true });
  writeModel(folder, checkpoint);
  const { heads, optimizer, version } = checkpoint;
  if (Object.keys(heads).length > 0) writeSafetensors(join(folder, HEADS), heads);
  writeSafetensors(join(folder, "optimizer.safetensors"), optimizer.tensors);
  writeJson(join(folder, "state.json"), {
    version,
    updates: optimizer.updates,
    optimizer: optimizer.method,
  });
}

/** Writes the folder, replacing one of the same name only when the new one is whole. */
export function writeCheckpoint(folder: string, checkpoint: NewCheckpoint): void {
  const part = join(dirname(folder), `.${basename(folder)}.${process.pid}.part`);
  const former = `${part}.old`;
  try {
    rmSync(part, { recursive: true, force: true });
    writeFiles(part, checkpoint);
    if (existsSync(folder)) putInPlace(folder, former);
    putInPlace(part, folder);
    rmSync(former, { recursive: true, force: true });
  } catch (error) {
    if (existsSync(part)) rmSync(part, { recursive: true, force: true });
    if (existsSync(former) && !existsSync(folder)) putInPlace(former, folder);
    throw new UserError(`The checkpoint ${folder} could not be written: ${messageOf(error)}.`, {
      file: folder,
      code: "checkpoint-write",
      action: "Free some space or check the folder's rights; the run continues from its last checkpoint.",
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

/** What the optimiser keeps, counters, and how the weights are read. @throws UserError naming the file and what is wrong with it */
function readCheckpoint(folder: string): Checkpoint {
  const { shape, tokenizer } = readCheckpointHead(folder);
  const { version, updates, optimizer } = readState(folder);
  const heads = join(folder, HEADS);
  const common = {
    shape,
    tokenizer,
    version,
    heads: existsSync(heads) ? readSafetensors(heads) : {},
    optimizer: {
      method: optimizer,
      updates,
      tensors: readSafetensors(join(folder, "optimizer.safetensors")),
    },
  };
  if (isPeft(folder)) return { ...common, adapter: readPeft(folder, shape) };
  return { ...common, open: () => openHuggingFaceWeights(folder, shape) };
}

/** The same, of a model of these parts and with this tokenizer. @throws UserError where it is of another */
export function readCheckpointOf(folder: string, parts: Parts, tokenizer: PolicyTokenizer): Checkpoint {
  const checkpoint = readCheckpoint(folder);
  const wrong = mismatch(checkpoint, parts);
  if (wrong !== undefined)
    throw new UserError(`The checkpoint ${folder} ${wrong}.`, {
      file: folder,
      code: "checkpoint-shape",
      action: "Open a policy with that checkpoint's own size, heads and adapter, or name another checkpoint.",
    });
  checkStoredTokens(folder, checkpoint.tokenizer, tokenizer);
  return checkpoint;
}

/** Why a checkpoint is not of a model with these parts, as the end of a sentence; undefined where it is. */
function mismatch({ shape, heads, adapter }: Checkpoint, parts: Parts): string | undefined {
  if (!isDeepStrictEqual(shape, parts.shape)) return "is for a model of another size";
  const shapes = headShapes(parts);
  const own = Object.keys(shapes).sort().join(", ");
  const theirs = Object.keys(heads).sort().join(", ");
  if (own !== theirs) return `has ${theirs || "no heads"} where this model has ${own || "none"}`;
  const other = Object.keys(shapes).find((name) => heads[name]!.shape.join() !== shapes[name]!.join());
  if (other !== undefined)
    return `has ${other} of [${heads[other]!.shape.join()}] where this model has [${shapes[other]!.join()}]`;
  const described = (of: Adapter | undefined): string =>
    of === undefined
      ? "no adapter"
      : `an adapter of rank ${of.rank}, alpha ${of.alpha} on ${[...of.targets].sort().join(", ")}`;
  const [has, wants] = [described(adapter?.adapter), described(parts.adapter)];
  return has === wants ? undefined : `has ${has} where this run has ${wants}`;
}
