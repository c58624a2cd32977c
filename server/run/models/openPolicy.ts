/** The policy of a run, as its config wants it. */
import { contextOf } from "../../algorithm/algorithm.ts";
import { taskTexts } from "../../algorithm/curriculum/taskTexts.ts";
import { create } from "../../core/create.ts";
import { admitMemory } from "../../analysis/memory/estimate.ts";
import { openPolicy, type TrainablePolicy } from "../../engine/index.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { randomStream } from "../../lib/random.ts";

/** @throws UserError where the run would need more memory than it may take */
export function openRunPolicy(config: RunConfig): Promise<TrainablePolicy> {
  const { budget } = admitMemory(config);
  const body = config.stages[0]?.body ?? config.top;
  const context = contextOf(body, { random: randomStream(config.seed, "optimizer") });
  return openPolicy({
    model: config.model,
    optimizer: create(body.update.optimizer, context),
    backend: config.engine.backend,
    threads: config.engine.threads,
    seed: config.seed,
    texts: () => taskTexts(config),
    ...budget,
  });
}
