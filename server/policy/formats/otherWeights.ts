/** Weights in formats that are not read here: what they are called, and how safetensors are made of them. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename } from "node:path";
import { UserError } from "../../../shared/errors.ts";

interface OtherWeights {
  /** As the end of a sentence. */
  readonly words: string;
  readonly action: string;
}

const pickle = /\.(bin|pt|pth|ckpt|pkl)(\.index\.json)?$/;
/** PyTorch's files of a training's state: pickled as well, and no weights of a model. */
const noWeights = /^(training_args|optimizer|scheduler|rng_state.*|scaler)\.|^(vocab|tokenizer)/;

const kinds: readonly {
  readonly is: (name: string) => boolean;
  readonly words: (name: string) => string;
  readonly action: string;
}[] = [
  {
    is: (name) => pickle.test(name) && !noWeights.test(name),
    words: (name) => `its weights are pickled (${name}), and reading a pickle runs the code that is in it`,
    action:
      "Save the model once more with transformers' save_pretrained, which writes safetensors: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER), and the same with AutoTokenizer.",
  },
  {
    is: (name) => /^(tf_model.*\.h5|flax_model.*\.msgpack|.*\.onnx)$/.test(name),
    words: (name) => `its weights are in a format of another framework (${name})`,
    action:
      "Name a folder of the same model with safetensors: publishers have one beside it, or transformers' save_pretrained writes one.",
  },
  {
    is: (name) => name.endsWith(".gguf"),
    words: (name) => `its weights are in a GGUF file (${name})`,
    action: "Name that .gguf file itself.",
  },
];

/** What lies in a folder in the place of safetensors; undefined: nothing that is known. */
export function otherWeights(folder: string): OtherWeights | undefined {
  const names = readdirSync(folder).sort();
  for (const { is, words, action } of kinds) {
    // An index is named only where the files that it lists are not there.
    const found = names.filter(is);
    const name = found.find((one) => !one.endsWith(".json")) ?? found[0];
    if (name !== undefined) return { words: words(name), action };
  }
  return undefined;
}

/** @throws UserError saying how safetensors are made of it, where a path has weights of a kind that is not read */
export function refuseOtherWeights(path: string): void {
  if (!existsSync(path)) return;
  const stats = statSync(path);
  const file = stats.isFile() ? kinds.find(({ is }) => is(basename(path))) : undefined;
  const other = stats.isDirectory()
    ? otherWeights(path)
    : file && { words: file.words(basename(path)), action: file.action };
  if (other === undefined) return;
  throw new UserError(`${path} cannot be opened: ${other.words}.`, {
    file: path,
    code: "model-weights",
    action: other.action,
  });
}
