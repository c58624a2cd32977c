/** What a run's tasks say: the texts that a tiny model's vocabulary is learned from. */
import { contextOf } from "../algorithm.ts";
import { openSources } from "./openSources.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { randomStream } from "../../lib/random.ts";

/** Tasks of each source; a source that has fewer gives what it has. */
const TASKS = 1024;

/** Prompts, written solutions and answers of training tasks; the same for the same config, and never of held-out tasks. */
export function* taskTexts(config: RunConfig): Generator<string> {
  for (const { body } of config.stages.length === 0 ? [{ body: config.top }] : config.stages) {
    const random = randomStream(config.seed, "tokenizer");
    for (const { source } of openSources(body.tasks, contextOf(body, { random }))) {
      for (let i = 0; i < TASKS; i++) {
        const task = source.draw("train", undefined, random);
        if (task === null) break;
        yield task.prompt;
        yield task.solution ?? task.answer ?? "";
      }
    }
  }
}
