/** The tokenizer that a run generated with: of its checkpoints, else of the model that it began with. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../shared/lib/errors.ts";
import { readTokenizer } from "../../engine/tokenizers/index.ts";
import type { Tokenizer } from "../../core/policy.ts";
import { checkpointFolder, checkpointSteps, policyFolder } from "../../run/checkpoint/checkpoint.ts";

/** Or why there is none, as a sentence. */
export type FoundTokenizer = { readonly tokenizer: Tokenizer } | { readonly reason: string };

/** @param folder the run's @param authored its config as it was written; empty: it has none */
export async function runTokenizer(folder: string, authored: string): Promise<FoundTokenizer> {
  try {
    const tokenizer = ofCheckpoint(folder);
    if (tokenizer !== undefined) return { tokenizer };
    // Reading a config takes most of what a thread has to load.
    const { modelTokenizer } = await import("./modelTokenizer.ts");
    return { tokenizer: modelTokenizer(folder, authored) };
  } catch (error) {
    return { reason: `The run's tokenizer cannot be read: ${messageOf(error)}` };
  }
}

function ofCheckpoint(folder: string): Tokenizer | undefined {
  const last = checkpointSteps(folder).at(-1);
  if (last === undefined) return undefined;
  const policy = join(checkpointFolder(folder, last), policyFolder);
  return existsSync(join(policy, "tokenizer.json")) ? readTokenizer(policy) : undefined;
}
