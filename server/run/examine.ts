/** A model from anywhere, measured on a config's held-out tasks: what `gradus evaluate` does. */
import { Algorithm } from "../algorithm.ts";
import type { RunConfig } from "../config/resolved.ts";
import { randomStream } from "../random.ts";
import { openCheckpoint } from "./checkpoints.ts";
import { evaluate, type Answered, type Evaluated } from "./evaluate.ts";
import { openModels } from "./models.ts";
import { heldOut, Parts } from "./stage.ts";

/**
 * Opens the model, answers the tasks and closes it. The tasks and the draws follow from the config and its seed alone:
 * two models are asked the same.
 * @param path folder or file with the weights
 * @param keep is given every answer
 * @throws UserError where the model cannot be opened, or a reward cannot be loaded
 */
export async function examine(
  path: string,
  config: RunConfig,
  keep?: (answered: Answered) => void,
): Promise<Evaluated> {
  const policy = await openCheckpoint(path, config.seed, config.engine.backend);
  const models = await openModels(config, policy);
  const parts = new Parts({
    random: randomStream(config.seed, "methods"),
    models,
    tokenizer: policy.tokenizer,
  });
  try {
    const context = parts.context(config.top);
    const scorer = parts.scorer(config.top);
    await scorer.prepare();
    const tasks = heldOut(config.top, context, config.evaluation.prompts);
    const algorithm = new Algorithm(config.top, context);
    return await evaluate(
      { config, tasks, algorithm, scorer, policy, models },
      { step: 0, stageStep: 0 },
      keep,
    );
  } finally {
    await parts.close();
    models.close();
  }
}
