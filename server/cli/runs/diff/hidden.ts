/** How alike two models' states of the same texts are, layer by layer: one model is open at a time. */
import { needs } from "../../../config/needs.ts";
import { contextOf } from "../../../algorithm/algorithm.ts";
import { evaluationTasks } from "../../../algorithm/curriculum/evaluationTasks.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { alignment, type Alignment } from "../../../analysis/weights/cka.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { TrainablePolicy } from "../../../engine/index.ts";
import type { PolicyTokenizer } from "../../../engine/tokenizers/types.ts";
import { randomStream } from "../../../lib/random.ts";
import { textLines } from "../../../lib/textLines.ts";
import { openCheckpoint } from "../../../run/checkpoint/checkpoints.ts";
import { asked } from "../../../run/step/generate/prompts.ts";
import { loadOrComplain } from "../../loadOrComplain.ts";

/** Kernels have as many rows and columns, and are made of each layer. */
const MOST_TEXTS = 512;
/** Of a text. */
const MOST_TOKENS = 1024;

export interface HiddenAlignment {
  readonly texts: number;
  /** Dimensions of a state. */
  readonly width: number;
  /** As embedded, then after each layer. */
  readonly depths: readonly Alignment[];
}

export type Texts = (tokenizer: PolicyTokenizer) => Int32Array[];

/** @returns undefined where the file is a config with errors, which are printed */
export function textsOf(file: string): Texts | undefined {
  if (!/\.ya?ml$/.test(file)) return linesOf(file);
  const config = loadOrComplain(file, {}, { needs: needs.drawn });
  return config && promptsOf(config);
}

/** The held-out tasks, as the policy is asked them. */
function promptsOf(config: RunConfig): Texts {
  const context = contextOf(config.top, { random: randomStream(config.seed, "methods") });
  const tasks = evaluationTasks(config, context);
  return (tokenizer) => tasks.map(({ task }) => asked(tokenizer, task, config.top.rollout).tokens);
}

function linesOf(file: string): Texts {
  const lines = [...textLines(file)].filter((line) => line.trim() !== "");
  return (tokenizer) =>
    lines.map((line) => Int32Array.from([...tokenizer.prefix, ...tokenizer.encode(line)]));
}

const rowsOf = (texts: Texts, { tokenizer, context }: TrainablePolicy): Int32Array[] =>
  texts(tokenizer)
    .filter(({ length }) => length > 0)
    .slice(0, MOST_TEXTS)
    .map((tokens) => tokens.subarray(0, Math.min(MOST_TOKENS, context - 1)));

async function statesOf(path: string, texts: Texts): Promise<readonly (readonly Float32Array[])[]> {
  const policy = await openCheckpoint(path, 1, { answers: 1, max_tokens: 1 });
  try {
    return await policy.layerMeans(rowsOf(texts, policy));
  } finally {
    policy.close();
  }
}

/** @throws UserError where there are too few texts, or a model needs more memory than it may take */
export async function hiddenAlignment(a: string, b: string, texts: Texts): Promise<HiddenAlignment> {
  const before = await statesOf(a, texts);
  const count = before[0]!.length;
  if (count < 2)
    throw new UserError(`States of ${count === 0 ? "no text" : "one text"} cannot be aligned.`, {
      code: "diff-texts",
      action: "Name a file with a text a line, or a config whose `evaluation.prompts` is larger.",
    });
  const after = await statesOf(b, texts);
  return {
    texts: count,
    width: before[0]![0]!.length,
    depths: before.map((states, depth) => alignment(states, after[depth]!)),
  };
}
