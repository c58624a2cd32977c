/** What a rule can tell of a model before anybody opens it: the first lines of its folder. */
import { limits, readText } from "../lib/inputFile.ts";
import { join } from "node:path";
import { z } from "zod";

const config = z.object({
  hidden_size: z.number().positive(),
  num_hidden_layers: z.number().positive(),
  vocab_size: z.number().positive().default(0),
});

/**
 * Nearly how many weights the model of a Hugging Face folder or a checkpoint has: 12 width² a layer, and a row a token.
 * undefined: it is none, or it does not say; what is wrong with it is reported elsewhere.
 */
export function weightsOfBase(base: string): number | undefined {
  const shape = config.safeParse(readJson(join(base, "config.json"))).data;
  return shape && shape.hidden_size * (12 * shape.num_hidden_layers * shape.hidden_size + shape.vocab_size);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readText(file, limits.modelJson));
  } catch {
    return undefined;
  }
}
