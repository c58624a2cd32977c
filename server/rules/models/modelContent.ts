import { dirname } from "node:path";
import { shownPath } from "../../lib/texts/shownPath.ts";
import { replace } from "../../config/check/report.ts";
import type { ModelConfig } from "../../core/blocks/models.ts";
import { isReadable } from "../nearFile.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { at as nodeAt, mine, type Rule } from "../rule.ts";

/** What a run would refuse about a model that is there. */
export const modelContent: Rule = {
  id: "model-content",
  title: "Model that a run cannot open",
  why: "A run opens a Hugging Face folder with `config.json`, `tokenizer.json` and safetensors, a `.gguf` file, or a checkpoint of an earlier run, of the families Llama (with SmolLM2 and TinyLlama), Mistral, Qwen 2 and 2.5, Qwen 3, Gemma 3 (text) and GPT-2. This rule reads the config, the tokenizer and the headers of the weights as a run does, but no weights.\n\nPickled weights (`pytorch_model.bin`) are not read, because reading a pickle runs the code in it: save the model again with transformers' `save_pretrained`, which writes safetensors. The message names the family or feature that this engine does not compute (YaRN, a mixture of experts, soft-capped logits, quantised weights, …). The same applies to every entry of `models`.",
  check(model) {
    const { config } = model;
    checkModel(model, config.model, ["model"]);
    for (const one of config.models)
      if (one.kind === "opened") checkModel(model, one.model, ["models", one.name]);
  },
};

function checkModel(model: ConfigModel, own: ModelConfig, path: readonly string[]): void {
  const { facts } = model;
  if (facts === undefined) return;
  const { base, tokenizer } = own;
  if (base !== "tiny") {
    // Another rule reports a missing model; a model whose path only the run knows is reported by the run.
    if (base.startsWith("${env:") || !isReadable(base)) return;
    const look = facts.look(base);
    if (look.kind === "unfit") reportModel(model, [...path, "base"], look.problem, base);
  } else if (tokenizer?.use === "bpe" && tokenizer.file !== undefined) {
    const problem = facts.vocabularyProblem(tokenizer.file);
    if (problem !== undefined) reportModel(model, [...path, "tokenizer", "file"], problem, tokenizer.file);
  }
}

function reportModel(
  { file, root, report }: ConfigModel,
  path: readonly string[],
  problem: string,
  place: string,
): void {
  const at =
    mine(file, nodeAt(root, ...path)?.origin) ??
    mine(file, nodeAt(root, path[0] ?? "")?.origin) ??
    root.origin;
  report({
    rule: modelContent.id,
    message: problem.replaceAll(place, shownPath(dirname(file), place) || "."),
    key: path.join("."),
    at,
    fixes:
      path.join(".") === "model.base"
        ? [replace(at.range, "tiny", "Change to `tiny`: a small model with random weights", false)]
        : [],
  });
}
