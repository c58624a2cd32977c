/** The tokenizer that a run generated with: of its checkpoints, else of the model that it began with. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../shared/lib/errors.ts";
import { openBase } from "../../engine/formats/index.ts";
import { tokenizerForTiny } from "../../engine/tokenizers/forTiny.ts";
import { readTokenizer } from "../../engine/tokenizers/index.ts";
import type { Tokenizer } from "../../core/policy.ts";
import { checkpointFolder, checkpointSteps, policyFolder } from "../../run/checkpoint/checkpoint.ts";
import { readRunFile } from "../../run/loop/files.ts";
import { loadWith, readSettings } from "../../run/loop/settings.ts";

/** Or why there is none, as a sentence. */
type Found = { readonly tokenizer: Tokenizer } | { readonly reason: string };

/** @param folder the run's @param authored its config as it was written; empty: it has none */
export function runTokenizer(folder: string, authored: string): Found {
  try {
    return { tokenizer: ofCheckpoint(folder) ?? ofModel(folder, authored) };
  } catch (error) {
    return { reason: `The run's tokenizer cannot be read: ${messageOf(error)}` };
  }
}

function ofCheckpoint(folder: string): Tokenizer | undefined {
  const last = checkpointSteps(folder).at(-1);
  if (last === undefined) return undefined;
  const policy = join(checkpointFolder(folder, last), policyFolder);
  return existsSync(join(policy, "tokenizer.json")) ? readTokenizer(policy) : undefined;
}

function ofModel(folder: string, authored: string): Tokenizer {
  if (authored === "") throw new Error("the run was imported without a config");
  const { config, diagnostics } = loadWith(readRunFile(folder), authored, readSettings(folder), true);
  if (config === undefined) throw new Error(diagnostics[0]?.message ?? "its config has errors");
  const { model } = config;
  if (model.base !== "tiny") return openBase(model.base).tokenizer;
  const { tokenizer } = model;
  if (tokenizer?.use === "bpe" && tokenizer.file === undefined)
    throw new Error("it was learned from the run's tasks, and no checkpoint is left that has it");
  return tokenizerForTiny(tokenizer, () => []);
}
