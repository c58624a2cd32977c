/** Sections of prime-rl's config. */
export const orchestrator = "orchestrator";
export const train = "orchestrator.train";
export const sampling = "orchestrator.train.sampling";
export const loss = "trainer.loss";
export const optim = "trainer.optim";
export const scheduler = "trainer.scheduler";
export const lora = "trainer.model.lora";
/** Lists of one environment in the file: keys below these are the environment's. */
export const source = "orchestrator.train.source";
export const heldOut = "orchestrator.eval.source";
/** What gradus_algorithm.py does in the place of prime-rl. */
export const algorithm = `${source}.env.taskset.algorithm`;
