/** Values of TRL's keys with a special form: maps as text, options of FSDP, lists of datasets. */
import type { Json } from "../../../shared/lib/json.ts";
import { listed, nearest } from "../../lib/suggest.ts";
import type { Setting } from "../text/document.ts";
import { changeTo } from "../rules/fix.ts";
import type { DocumentModel } from "../rules/model.ts";
import { isObject } from "../text/values.ts";
import { wrongType, wrongValue, type KeyDiagnostic } from "./keyRules.ts";

export function structured(model: DocumentModel): KeyDiagnostic[] {
  if (model.document.framework !== "trl") return [];
  return model.document.settings.flatMap((setting) => {
    const { key, value } = setting;
    const [top = ""] = key.split(".");
    if (model.fact(top) === undefined || value === undefined) return [];
    const found =
      value === null
        ? missing(setting)
        : (ofMap(setting) ?? ofText(setting, value) ?? dataSets(setting, value));
    return found === undefined ? [] : [found];
  });
}

/** Multiplied or compared when the class or its trainer is made. */
const calculated = [
  "per_device_train_batch_size",
  "gradient_accumulation_steps",
  "num_generations",
  "dataloader_num_workers",
];

function missing(setting: Setting): KeyDiagnostic | undefined {
  if (!calculated.includes(setting.key)) return undefined;
  const message = `\`${setting.key}\` is empty, and TRL calculates with it: the run fails before its first step. Write a whole number, or remove the key.`;
  return { rule: wrongType, at: setting, message };
}

/** `AcceleratorConfig` of transformers/trainer_pt_utils.py. */
const accelerator = [
  "split_batches",
  "dispatch_batches",
  "even_batches",
  "use_seedable_sampler",
  "non_blocking",
  "gradient_accumulation_kwargs",
  "use_configured_state",
];

/** A map is one setting, or its entries are separate settings. */
function ofMap(setting: Setting): KeyDiagnostic | undefined {
  const { key, value } = setting;
  const [top, ...below] = key.split(".");
  if (top !== "accelerator_config" || below.length > 1) return undefined;
  const names = below.length > 0 ? below : isObject(value) ? Object.keys(value) : [];
  const name = names.find((one) => !accelerator.includes(one));
  return name === undefined
    ? undefined
    : unknownName(setting, name, accelerator, "`AcceleratorConfig` has no field");
}

function unknownName(setting: Setting, name: string, known: readonly string[], said: string): KeyDiagnostic {
  const meant = nearest(name, known);
  const hint = meant === undefined ? ` It has ${listed(known)}.` : ` Did you mean \`${meant}\`?`;
  return { rule: wrongValue, at: setting, message: `${said} \`${name}\`: Transformers refuses it.${hint}` };
}

/** `_VALID_DICT_FIELDS`: text that begins with a brace is read as JSON. */
const maps =
  /^(accelerator_config|fsdp_config|deepspeed|lr_scheduler_kwargs|generation_kwargs|chat_template_kwargs|dataset_kwargs|(activation|gradient)_checkpointing_kwargs|(teacher_|ref_)?model_init_kwargs)$/;
/** Of any release of Transformers. */
const sharding = [
  ...["full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2"],
  ...["offload", "auto_wrap"],
];
const debugging = ["underflow_overflow", "tpu_metrics_debug"];

function ofText(setting: Setting, value: Json): KeyDiagnostic | undefined {
  if (typeof value !== "string" || /[${]{2}|\$/.test(value)) return undefined;
  if (maps.test(setting.key)) return value.startsWith("{") && !isJson(value) ? noJson(setting) : undefined;
  if (setting.key !== "fsdp" && setting.key !== "debug") return undefined;
  if (/^(true|false|yes|no|t|f|y|n|1|0)?$/i.test(value)) return undefined;
  const known = setting.key === "fsdp" ? sharding : debugging;
  const wrong = value.split(/\s+/).find((word) => word !== "" && !known.includes(word.toLowerCase()));
  if (wrong === undefined) return undefined;
  const found = unknownName(setting, wrong, known, `\`${setting.key}\` has no option`);
  return { ...found, fixes: value === wrong ? changeTo(setting, nearest(wrong, known)) : [] };
}

const noJson = (setting: Setting): KeyDiagnostic => ({
  rule: wrongType,
  at: setting,
  message: `\`${setting.key}\` is read as JSON, and this text is not valid JSON: put names and texts in double quotes, and write \`true\` and \`false\` in lower case.`,
});

function isJson(text: string): boolean {
  try {
    // Python's reader also takes these three.
    JSON.parse(text.replace(/-?\b(NaN|Infinity)\b/g, "0"));
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** `DatasetConfig` of trl/scripts/utils.py. */
const fields = ["path", "name", "data_dir", "data_files", "split", "columns", "fraction"];

function dataSets(setting: Setting, value: Json): KeyDiagnostic | undefined {
  if (setting.key !== "datasets" || !Array.isArray(value)) return undefined;
  const sets = value.filter((item) => isObject(item));
  const strange = sets.flatMap((item) => Object.keys(item)).find((name) => !fields.includes(name));
  if (strange !== undefined) return unknownName(setting, strange, fields, "A dataset in `datasets` has no");
  return sets.every((item) => "path" in item)
    ? undefined
    : {
        rule: wrongValue,
        at: setting,
        message:
          "Each dataset in `datasets` needs a `path`: the name of a dataset on the Hub, or a file type such as `json`.",
      };
}
