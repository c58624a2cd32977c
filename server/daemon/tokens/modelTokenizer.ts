/** The tokenizer of the model that a run began with, by its config. */
import type { Tokenizer } from "../../core/policy.ts";
import { openBase } from "../../engine/formats/index.ts";
import { tokenizerForTiny } from "../../engine/tokenizers/forTiny.ts";
import { readRunFile } from "../../run/loop/files.ts";
import { loadWith, readSettings } from "../../run/loop/settings.ts";

/** @throws Error where the config or the model cannot be read, or nothing is left of the tokenizer */
export function modelTokenizer(folder: string, authored: string): Tokenizer {
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
