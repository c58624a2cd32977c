/** `--trained` and `--base`: a small model, after and before its training, that another answers with. */
import type { DecodeOptions } from "../../core/policy.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import { openCheckpoint } from "../../run/checkpoint/checkpoints.ts";
import { logitsBetween } from "../../run/step/generate/deltaLogits.ts";
import { findCheckpoint } from "../runs/checkpointNames.ts";

export interface Steering {
  readonly trained?: string | undefined;
  readonly base?: string | undefined;
  readonly lambda: number;
}

interface Steered {
  readonly shift: DecodeOptions["logits_shift"];
  close(): void;
}

/** Without both nothing is added. @throws UserError where one has other tokens than the policy */
export async function steered(
  policy: TrainablePolicy,
  { trained, base, lambda }: Steering,
  asked: { readonly seed: number; readonly count: number; readonly maxTokens: number },
): Promise<Steered> {
  if (trained === undefined || base === undefined) return { shift: undefined, close: () => undefined };
  const work = { answers: asked.count, max_tokens: asked.maxTokens };
  const opened: TrainablePolicy[] = [];
  const close = (): void => opened.toReversed().forEach((one) => one.close());
  try {
    for (const path of [trained, base])
      opened.push(await openCheckpoint(findCheckpoint(path), asked.seed, work, policy));
    const [after, before] = opened.map((one, i) => ({
      name: [trained, base][i]!,
      tokenizer: one.tokenizer,
      context: one.context,
      nextLogits: (texts: readonly Int32Array[]) => one.nextLogits(texts),
    }));
    return { shift: logitsBetween(policy.tokenizer, after!, before!, lambda), close };
  } catch (error) {
    close();
    throw error;
  }
}
