/** Unsloth replaces TRL's classes by its own as soon as it is imported. */
import type { FrameworkDocument } from "../../text/document.ts";

/** What its argument classes take in addition to TRL's: unsloth/models/rl.py, `RLTrainer_replacement`. */
const ownArguments = /^(unsloth_\w+|vllm_sampling_params|max_seq_length)$/;

export const isUnsloths = ({ patched }: Pick<FrameworkDocument, "patched">, key: string): boolean =>
  patched === "unsloth" && ownArguments.test(key);

/**
 * Its trainers take `tokenizer` still, and hand every argument that the trainer does not name to the config that is given
 * as `args`: unsloth/trainer.py, `_backwards_compatible_trainer`. Of what neither has nothing is heard again.
 */
export const movesArgument = (
  { patched }: Pick<FrameworkDocument, "patched">,
  name: string,
  isOfConfig: boolean,
): boolean => patched === "unsloth" && (name === "tokenizer" || isOfConfig || ownArguments.test(name));
