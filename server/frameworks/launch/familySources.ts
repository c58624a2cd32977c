/** What the table of model families was read from. Dates are those of the copies; of what has none, the day we looked. */
import type { Source } from "./familyModel.ts";

const read = (what: string, date: string): Source => ({ what, date });

/** Shapes of models by their Hub names. Its context lengths are not always those of `config.json`. */
export const litgpt = read("Lightning-AI/litgpt, litgpt/config.py", "2026-06-29");
/** How litgpt writes prompts of models. */
export const litgptPrompts = read("Lightning-AI/litgpt, litgpt/prompts.py", "2026-06-29");
/** Copies of models' `config.json`. */
export const mlc = read("mlc-ai/mlc-llm, python/mlc_llm/model/model_preset.py", "2026-07-23");
export const maxtext = read(
  "AI-Hypercomputer/maxtext, checkpoint_conversion/utils/hf_model_configs.py and configs/models",
  "2026-08-22",
);
/** Megatron's flags of models. Its `qwen2.5-1.5B.sh` has a rotary base that the model does not have. */
export const slime = read("THUDM/slime 0.3.1, scripts/models", "2026-08-21");
export const miles = read("radixark/miles 0.1.0, scripts/models", "2026-08-22");
/** Copies of models' chat templates, which it compares tokenizers with. */
export const trl = read("huggingface/trl, trl/chat_templates", "2026-07-24");
export const trlSft = read("huggingface/trl, docs/source/sft_trainer.md", "2026-07-24");
export const unsloth = read("unslothai/unsloth, unsloth/chat_templates.py", "2026-08-22");
/** Which models its templates are for, and the markers of turns. */
export const unslothMarkers = read(
  "unslothai/unsloth, studio/backend/utils/datasets/model_mappings.py",
  "2026-08-22",
);
export const llamafactory = read(
  "hiyouga/LlamaFactory 0.9.6.dev0, data/template.py and extras/constants.py",
  "2026-08-18",
);
export const swift = read("modelscope/ms-swift 4.6.0.dev0, swift/model and swift/template", "2026-08-22");
export const primeRl = read("PrimeIntellect-ai/prime-rl, tests/unit/train/models", "2026-08-22");
/** Chat templates that llama.cpp's script took from the Hub. */
export const llamaCpp = read("ggml-org/llama.cpp, models/templates", "2026-12-01");
/** Configurations and tokenizers that runs printed when they loaded a model. */
export const printed = read(
  "logs and notes in public repositories that print the loaded config",
  "2026-12-01",
);
/** Cards of models, by a documentation search. */
export const cards = read("cards of the models on huggingface.co", "2026-12-01");
/** On the end-of-text token of Qwen2.5's base models. */
export const qwenEos = read(
  "issues QwenLM/Qwen3#927, datawhalechina/self-llm#326, meta-pytorch/torchtune#2587",
  "2025-04-13",
);
