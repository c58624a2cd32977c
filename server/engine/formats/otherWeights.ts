/** Weights in formats that are not read here: what they are called, and how safetensors are made of them. */
import { closeSync, existsSync, readSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { openRegular } from "../../lib/inputFile.ts";

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
    words: (name) => `its weights are pickled (${name}), and reading a pickle runs the code in it`,
    action:
      "Save the model again with transformers' save_pretrained, which writes safetensors: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER), and the same with AutoTokenizer.",
  },
  {
    is: (name) => /^(tf_model.*\.h5|flax_model.*\.msgpack|.*\.onnx)$/.test(name),
    words: (name) => `its weights are in a format of another framework (${name})`,
    action:
      "Name a folder of the same model with safetensors: publishers often offer one, and transformers' save_pretrained writes one.",
  },
  {
    is: (name) => name.endsWith(".gguf"),
    words: (name) => `its weights are in a GGUF file (${name})`,
    action: "Name that .gguf file itself.",
  },
];

/** Files whose name says less than how they begin. */
const contents: readonly {
  readonly is: (head: Buffer) => boolean;
  readonly words: (name: string) => string;
  readonly action: string;
}[] = [
  {
    is: (head) => head.toString("latin1").startsWith("GGUF"),
    words: (name) => `${name} is a GGUF file with another file extension`,
    action: "Rename it so that it ends in .gguf, and name that file itself.",
  },
  {
    is: (head) => head.toString("latin1").startsWith("version https://git-lfs"),
    words: (name) => `${name} is a pointer of Git LFS: the weights themselves were not downloaded`,
    action: "Fetch them: `git lfs pull` in that folder, or download the model again.",
  },
];

const headBytes = 32;

/** The first bytes of a file; none where it cannot be read. */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(headBytes);
  try {
    const descriptor = openRegular(path);
    try {
      return head.subarray(0, readSync(descriptor, head, 0, headBytes, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return head.subarray(0, 0); // then its name alone decides
  }
}

/** By how the file begins, where that says another thing than its name; else by its name. */
function otherWeightsAt(path: string): OtherWeights | undefined {
  const name = basename(path);
  const named = kinds.find(({ is }) => is(name));
  if (named === undefined) return undefined;
  const head = pickle.test(name) ? headOf(path) : Buffer.alloc(0);
  const { words, action } = contents.find(({ is }) => is(head)) ?? named;
  return { words: words(name), action };
}

/** What lies in a folder in the place of safetensors; undefined: nothing that is known. */
export function otherWeights(folder: string): OtherWeights | undefined {
  const names = readdirSync(folder).sort();
  for (const { is } of kinds) {
    // An index is named only where the files that it lists are not there.
    const found = names.filter(is);
    const name = found.find((one) => !one.endsWith(".json")) ?? found[0];
    if (name !== undefined) return otherWeightsAt(join(folder, name));
  }
  return undefined;
}

/** @throws UserError saying how safetensors are made of it, where a path has weights of a kind that is not read */
export function refuseOtherWeights(path: string): void {
  if (!existsSync(path)) return;
  const stats = statSync(path);
  const other = stats.isDirectory() ? otherWeights(path) : stats.isFile() ? otherWeightsAt(path) : undefined;
  if (other === undefined) return;
  throw new UserError(`${path} cannot be opened: ${other.words}.`, {
    file: path,
    code: "model-weights",
    action: other.action,
  });
}
