/** The policy of a run, as its config wants it. */
import { create, contextOf } from "../algorithm.ts";
import { admitMemory } from "../memory.ts";
import { openPolicy, type TrainablePolicy } from "../policy/index.ts";
import type { RunConfig } from "../config/resolved.ts";
import { randomStream } from "../random.ts";

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
    ...budget,
  });
}
