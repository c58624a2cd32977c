/** `gradus runs fork RUN [FILE] --step N`: a new run from a checkpoint of another, with an edited config. */
import { resolve } from "node:path";
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { runsFork, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { shellPython } from "../../lib/own/interpreter.ts";
import { print, printJson } from "../command.ts";
import { whole } from "../options.ts";
import { warnOfTests } from "../warnOfTests.ts";
import { findRun, withDaemon } from "./store.ts";

interface ForkOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly step?: number;
  readonly set?: readonly string[];
  readonly steps?: number;
  readonly seed?: number;
  readonly fresh?: boolean;
}

export function forkCommand(program: Program): void {
  program
    .command("fork")
    .description(
      "start a new run from the nearest checkpoint at or before a step, with the run's own config or another file",
    )
    .argument("<run>", "its id, a prefix of the id, its name, or `last`")
    .argument("[file]", "the config to train on by; default: the one that the run kept")
    .option("--step <n>", "default: the last checkpoint", whole(0))
    .option("--set <path=value...>", "values on top of it, as for `gradus run`")
    .option("--fresh", "state of the checkpoint that the config no longer has a part for starts from zero")
    .option("--steps <n>", "cap of the steps of rl", whole(1))
    .option("--seed <n>", "another seed", whole())
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((word: string, file: string | undefined, options: ForkOptions) =>
      withDaemon(options.store, async (connection) =>
        fork(connection, await findRun(connection, word), file, options),
      ),
    );
}

async function fork(
  connection: Requester,
  { id }: RunSummary,
  file: string | undefined,
  { json, step, set = [], steps, seed, fresh = false }: ForkOptions,
): Promise<void> {
  // What is wrong with the file itself, the daemon says.
  const { config } = file === undefined ? {} : loadFile(file, { set });
  if (config !== undefined) await warnOfTests(config, config.file);
  const python = shellPython(process.env);
  const answer = await ask(connection, runsFork, {
    run: id,
    set: [...set],
    fresh,
    ...(file === undefined ? {} : { file: resolve(file) }),
    ...(step === undefined ? {} : { step }),
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
    ...(python === undefined ? {} : { python }),
  });
  if (json === true) return printJson({ ...answer, parent: id });
  const nearest =
    step === undefined || step === answer.step ? "" : `, the nearest one at or before step ${step}`;
  print(
    `${answer.run} begins with the checkpoint of step ${answer.step} of ${id}${nearest}. Follow it: gradus runs follow ${answer.run}`,
  );
}
