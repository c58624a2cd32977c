/** `gradus hook`: writes the Python file that records what reward functions are asked and answer, in any trainer. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { hostFile } from "../../lib/own/ownProcess.ts";
import { print, printExactly, printJson, type Command } from "../command.ts";
import { pathText } from "../text/diagnostics.ts";

const name = "gradus_hook.py";
/** How every version of the file begins. */
const mark = '"""Records what a reward function is asked and answers, for Gradus.';

interface Options {
  readonly print?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

export const command: Command = {
  name: "hook",
  configure: (program) => {
    program
      .argument("[folder]", `folder to write ${name} to: that of the reward functions`, ".")
      .option("--print", "print the file instead")
      .option("--force", "replace a file of that name that is not ours")
      .option("--json", "one JSON value: the file written")
      .action((folder: string, options: Options) => run(folder, options));
  },
};

function run(folder: string, { print: prints, force, json }: Options): void {
  const text = readFileSync(hostFile(name, undefined), "utf8");
  if (prints === true) return printExactly(text.trimEnd());
  const file = join(folder, name);
  if (force !== true && existsSync(file) && !readFileSync(file, "utf8").startsWith(mark))
    throw new UserError("there is another file of that name", {
      file,
      code: "hook-exists",
      action: "Name another folder, or replace it: --force.",
    });
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    throw new UserError(`the file cannot be written: ${messageOf(error)}`, {
      file,
      code: "hook-unwritten",
      cause: error,
      action: "Name a folder that you may write to: gradus hook FOLDER.",
    });
  }
  if (json === true) return printJson({ file });
  print(`wrote ${pathText(file)}\n\n${usage.join("\n")}`);
}

const usage = [
  "In the file of your reward function, whichever trainer calls it:",
  "",
  "  from gradus_hook import log_rollouts",
  "",
  "  @log_rollouts",
  "  def my_reward(…):",
  "",
  "With TRL also `callbacks=[gradus_hook.trl_callback()]`, for metrics. Then, also while it trains:",
  "",
  "  gradus runs import gradus-rollouts",
];
