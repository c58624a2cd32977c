/** A checkpoint as a person names it: a model's folder or .gguf file, a checkpoint's, or the run's. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { UserError } from "../../shared/errors.ts";
import { openPolicy, type TrainablePolicy } from "../policy/index.ts";
import { checkpointFolder, checkpointSteps } from "./checkpoint.ts";
import { policyFolder } from "./trainer.ts";

const isPolicy = (folder: string): boolean =>
  ["model.safetensors", "model.safetensors.index.json"].some((name) => existsSync(join(folder, name)));

/** The folder or the .gguf file with the weights. @throws UserError where there are none */
export function resolveCheckpoint(path: string): string {
  const folder = resolve(path);
  if (folder.endsWith(".gguf") && existsSync(folder) && statSync(folder).isFile()) return folder;
  const last = checkpointSteps(folder).at(-1);
  const candidates = [
    folder,
    join(folder, policyFolder),
    ...(last === undefined ? [] : [join(checkpointFolder(folder, last), policyFolder)]),
  ];
  const found = candidates.find(isPolicy);
  if (found !== undefined) return found;
  const there = existsSync(folder)
    ? statSync(folder).isFile()
      ? "it is a file"
      : `it holds ${readdirSync(folder).slice(0, 8).join(", ") || "nothing"}`
    : "it does not exist";
  throw new UserError(`${folder} is no checkpoint: ${there}.`, {
    file: folder,
    code: "checkpoint-missing",
    action:
      "Name a checkpoint's folder (gradus runs show RUN lists them), a run's folder for its last one, a Hugging Face folder or a .gguf file.",
  });
}

/** Opens a checkpoint to generate from; it is not going to be trained. */
export function openCheckpoint(
  path: string,
  seed: number,
  backend: "auto" | "native" | "webgpu" | "wasm" = "auto",
): Promise<TrainablePolicy> {
  return openPolicy({
    model: {
      base: resolveCheckpoint(path),
      size: { width: 0, layers: 0, heads: 1, kv_heads: 1, hidden: 0, context: 0, tied: true },
    },
    optimizer: {
      name: "adamw",
      lr: 0,
      betas: [0.9, 0.999],
      epsilon: 1e-8,
      weight_decay: 0,
      warmup: 0,
      clip_norm: null,
    },
    backend,
    seed,
  });
}
