/** What a model's name or path says: the name itself, without what copies and conversions add, and whose it is. */

/** Whose copy of a model a name means. */
export type Upload =
  /** An account of the Hub, in lower case. */
  | { readonly kind: "account"; readonly account: string }
  /** A folder that holds models. */
  | { readonly kind: "folder" }
  /** A folder that a run wrote, so what it holds may be trained further under the same name. */
  | { readonly kind: "output" };

export interface ModelName {
  /** In lower case, with `-` between words and without what a conversion adds. */
  readonly name: string;
  readonly upload: Upload;
}

/** What conversions add to a name: weights in fewer bits, another file format. They change no text and no shape. */
const conversions =
  /-(?:unsloth-bnb-4bit|bnb-[48]bit|gguf|awq|awq-int4|gptq|gptq-int[48]|fp8|fp8-dynamic|fp8-block|int[48]|[2-8]bit|bf16|fp16|mlx|hf|torch-dist|mcore)$/;

/** Folders of models, where a path of two parts would else be an account and a name. */
const modelFolders =
  /^(?:models?|model[-_]zoo|pretrained(?:[-_]models?)?|weights|ckpts?|hf|hub|huggingface|modelscope|data|root|mnt|workspace)$/i;

/** Folders that runs write. */
const outputFolders =
  /^(?:outputs?|results?|saves?|saved|runs?|exps?|experiments?|logs?|merged|trained|fine-?tuned|sft|dpo|grpo|ppo|rl)$/i;

/** A model's name as the table compares it. ModelScope writes a dot in folder names as three underscores. */
export function plainName(written: string): string {
  let name = written.toLowerCase().replaceAll("___", ".").replaceAll("_", "-");
  while (conversions.test(name)) name = name.replace(conversions, "");
  return name;
}

/** The name in a Hub id, a path or an address of the Hub; undefined if it holds a variable or a pattern at its end. */
export function modelNameOf(model: string): ModelName | undefined {
  const written = model
    .trim()
    .replaceAll("\\", "/")
    .replace(/^(?:https?:\/\/(?:huggingface\.co|hf\.co)\/|hf:\/\/)/, "");
  const parts = written.split("/").filter((part) => part !== "");
  // A folder of the Hub's cache: `models--Qwen--Qwen3-4B/snapshots/…`.
  const cached = parts.find((part) => part.startsWith("models--"));
  const [last, ...above] = (cached?.split("--").slice(1) ?? parts).toReversed();
  if (last === undefined || !/^[\w.-]+$/.test(last)) return undefined;
  const path = cached === undefined && /^(?:[/.~$]|[A-Za-z]:)/.test(written);
  return { name: plainName(last), upload: uploadOf(above, path) };
}

/** Whose a name is, by what stands above it. */
function uploadOf(above: readonly string[], path: boolean): Upload {
  if (above.some((part) => outputFolders.test(part))) return { kind: "output" };
  const [account] = above;
  if (path || above.length !== 1 || account === undefined || modelFolders.test(account))
    return { kind: "folder" };
  return { kind: "account", account: account.toLowerCase() };
}
