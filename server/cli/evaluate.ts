import { Algorithm } from "../algorithm.ts";
import { loadConfig } from "../config/index.ts";
import type { RunConfig } from "../config/resolved.ts";
import { randomStream } from "../random.ts";
import { openCheckpoint } from "../run/checkpoints.ts";
import { evaluate } from "../run/evaluate.ts";
import { openModels } from "../run/models.ts";
import { heldOut, Parts } from "../run/stage.ts";
import type { EvaluationReport } from "../seams.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { collect, complainAbout } from "./findings.ts";
import { whole } from "./options.ts";
import { fixed } from "./terminal.ts";

async function examine(checkpoint: string, config: RunConfig): Promise<EvaluationReport> {
  const policy = await openCheckpoint(checkpoint, config.seed, config.engine.backend);
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
    const { report } = await evaluate(
      { config, tasks, algorithm: new Algorithm(config.top, context), scorer, policy, models },
      { step: 0, stageStep: 0 },
    );
    return report;
  } finally {
    await parts.close();
    models.close();
  }
}

export const command: Command = {
  name: "evaluate",
  configure: (program) => {
    program
      .argument("<checkpoint>", "a checkpoint's folder, or a run's for its last one")
      .argument("<file>", "the config whose tasks, rewards and `evaluation` measure it")
      .option("--set <path=value>", "measure with this value set", collect, [])
      .option("--seed <n>", "of the held-out tasks and the draws; default: the config's", whole())
      .option("--json", "one JSON value")
      .action(
        async (
          checkpoint: string,
          file: string,
          { set, seed, json }: { set: string[]; seed?: number; json?: boolean },
        ) => {
          const { config, diagnostics } = loadConfig(file, { set, ...(seed === undefined ? {} : { seed }) });
          complainAbout(diagnostics, "error");
          if (config === undefined) {
            process.exitCode = exit.failed;
            return;
          }
          const { metrics, tasks } = await examine(checkpoint, config);
          if (json === true) printJson({ checkpoint, file, tasks, metrics });
          else {
            print(`${tasks} held-out tasks`);
            for (const [name, value] of Object.entries(metrics))
              print(`  ${name.padEnd(36)} ${fixed(value)}`);
          }
        },
      );
  },
};
