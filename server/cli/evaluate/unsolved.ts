import { writeFileSync } from "node:fs";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { Unsolved } from "../../algorithm/curriculum/evaluationTasks.ts";
import { complain } from "../command.ts";

/** The tasks that a model solved in none of its sampled answers. */
export function writeUnsolved(file: string, checkpoint: string, results: TaskResults): void {
  const samples = Math.max(0, ...results.samples);
  const tasks = results.tasks.filter((_, i) => results.samples[i]! > 0 && results.right[i] === 0);
  const list: Unsolved = { unsolved_by: checkpoint, samples, tasks };
  try {
    writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`);
  } catch (error) {
    throw new UserError(`the list of unsolved tasks cannot be written: ${messageOf(error)}`, {
      file,
      code: "write",
      cause: error,
      action: "Name a file in a folder that exists and that you may write to.",
    });
  }
  complain(`${file}: ${tasks.length} of ${results.tasks.length} tasks without a right answer in ${samples}`);
}
