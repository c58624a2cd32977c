/** A model as a person names it: a model's folder or .gguf file, a checkpoint's folder, the run's, or `RUN@best`. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readBest } from "../../../shared/run/bestCheckpoint.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { refuseOtherWeights } from "../../engine/formats/index.ts";
import { admitAnswers, type Answering } from "../../analysis/memory/ofAnswers.ts";
import { adamwChoice } from "../../methods/optimizer/adamw.ts";
import { openPolicy, type TrainablePolicy } from "../../engine/index.ts";
import { checkpointFolder, checkpointSteps, policyFolder } from "./checkpoint.ts";
import { weightsMustBeWhole } from "./sums.ts";

const isPolicy = (folder: string): boolean =>
  ["model.safetensors", "model.safetensors.index.json", "adapter_config.json"].some((name) =>
    existsSync(join(folder, name)),
  );

/** `RUN@best`, `RUN@last` or `RUN@40` as the folder of that checkpoint; anything else as it is. */
function named(path: string): string {
  const [, run, which] = /^(.+)@(best|last|\d+)$/.exec(path) ?? [];
  if (run === undefined || which === undefined || existsSync(path)) return resolve(path);
  const folder = resolve(run);
  if (which === "last") return folder;
  const step = which === "best" ? readBest(folder)?.step : Number(which);
  if (step !== undefined) return checkpointFolder(folder, step);
  throw new UserError(`${folder} keeps no best checkpoint.`, {
    file: folder,
    code: "checkpoint-missing",
    action:
      "Set the metric that decides (checkpoint: { best: { metric: eval/greedy } }) and run again, or name another checkpoint of the run.",
  });
}

/** The folder or the .gguf file with the weights. @throws UserError where there are none */
export function resolveCheckpoint(path: string): string {
  const folder = named(path);
  if (folder.endsWith(".gguf") && existsSync(folder) && statSync(folder).isFile()) return folder;
  const last = checkpointSteps(folder).at(-1);
  const candidates = [
    folder,
    join(folder, policyFolder),
    ...(last === undefined ? [] : [join(checkpointFolder(folder, last), policyFolder)]),
  ];
  const found = candidates.find(isPolicy);
  if (found !== undefined) return found;
  refuseOtherWeights(folder);
  const there = existsSync(folder)
    ? statSync(folder).isFile()
      ? "it is a file"
      : `it holds ${readdirSync(folder).slice(0, 8).join(", ") || "nothing"}`
    : "it does not exist";
  throw new UserError(`${folder} is not a checkpoint: ${there}.`, {
    file: folder,
    code: "checkpoint-missing",
    action:
      "Name a checkpoint's folder (gradus runs show RUN lists them), a run's folder for its last one, a Hugging Face folder or a .gguf file.",
  });
}

/**
 * Opens a checkpoint to generate from; it is not going to be trained.
 * @param sharesWith a model whose device it uses, and that is closed after it
 * @throws UserError where it needs more memory than it may take
 */
export async function openCheckpoint(
  path: string,
  seed: number,
  work: Omit<Answering, "path">,
  sharesWith?: TrainablePolicy,
): Promise<TrainablePolicy> {
  const base = resolveCheckpoint(path);
  weightsMustBeWhole(base);
  const budget = admitAnswers({ path: base, ...work });
  const backend = work.config?.engine.backend ?? "auto";
  return openPolicy({
    model: { base, size: { width: 0, layers: 0, heads: 1, kv_heads: 1, hidden: 0, context: 0, tied: true } },
    optimizer: adamwChoice({ lr: 0 }),
    backend,
    seed,
    ...budget,
    sharesWith,
  });
}
