/** Memory of a model that only answers: what `sample` and `evaluate` open. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { arithmetic, limitOf, otherNeeds } from "./estimate.ts";
import { sizeText } from "./note.ts";
import { adamwChoice } from "../../methods/optimizer/adamw.ts";
import { readShape } from "../../engine/formats/index.ts";
import { planWithin, type Budget } from "../../engine/memory.ts";

/** Longest prompt, before the prompts are read, in tokens. */
const UNREAD_PROMPT = 256;

export interface Answering {
  /** Folder or .gguf file with the weights. */
  readonly path: string;
  /** Answers that are written at once, at most. */
  readonly answers: number;
  /** Longest answer, in tokens. */
  readonly max_tokens: number;
  /** The config that measures it; its other models are opened, too. */
  readonly config?: RunConfig | undefined;
}

/**
 * The budget in which the model can answer.
 * @throws UserError where it needs more memory than it may take, or its files cannot be read
 */
export function admitAnswers({ path, answers, max_tokens, config }: Answering): Budget {
  const shape = readShape(path);
  const limit = limitOf({ engine: config?.engine ?? {} });
  const own = {
    shape,
    trained: {},
    adapted: false,
    optimizer: adamwChoice({ lr: 0 }),
    snapshots: 0,
  };
  const work = {
    lanes: answers,
    rows: 0,
    staged: 0,
    length: Math.min(shape.context, UNREAD_PROMPT + max_tokens),
    streams: 1,
    backend: config?.engine.backend === "wasm" ? ("wasm" as const) : ("native" as const),
  };
  const others = config === undefined ? [] : otherNeeds(config);
  const { fits, budget, peak, prediction } = planWithin([own, ...others], work, limit.bytes);
  if (fits) return budget;
  throw new UserError(
    `${path} needs about ${sizeText(peak)} of memory to answer, but may use only ${sizeText(limit.bytes)} (${limit.because}): ${arithmetic(prediction)}.`,
    {
      file: path,
      code: "memory",
      action: "Use a smaller model, or a machine with more memory.",
    },
  );
}
