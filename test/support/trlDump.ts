/** Completions as TRL 1.16 logs them for a project's data: prompts are the chat template's text, and no column of the data is there. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../shared/lib/json.ts";
import { writeParquet } from "../../server/lib/datasets/parquetWriter.ts";
import { parquetRows } from "../../server/lib/parquet.ts";

/** How `question` is answered: the reference answer first, then wrong ones. */
const answers = (right: string): readonly string[] => [`It is ${right}`, "It is 1", "It is 2", "none"];

/**
 * @param more columns of a row of the data that rewards logged (`log_extra`)
 * @param ask what is asked, of the data's prompt
 */
export async function trlDump(
  project: string,
  more: (row: JsonObject) => JsonObject = () => ({}),
  ask: (question: string) => string = (question) => question,
): Promise<string> {
  const output = join(project, "out");
  mkdirSync(join(output, "completions"), { recursive: true });
  const data = parquetRows(join(project, "data", "train.parquet"));
  for (const step of [1, 2, 3]) {
    const rows = data.slice(step * 4, step * 4 + 4).flatMap((row) => {
      const [{ content }] = row["prompt"] as [{ content: string }];
      return answers(String(row["solution"])).map((completion, at) => ({
        step,
        prompt: `<|im_start|>user\n${ask(content)}<|im_end|>\n<|im_start|>assistant\n`,
        completion,
        correct: at === 0 ? 1 : 0,
        brief: 0.5,
        think_format_reward: 0,
        ...more(row),
        advantage: at === 0 ? 1.5 : -0.5,
      }));
    });
    const file = join(output, "completions", `completions_${String(step).padStart(5, "0")}.parquet`);
    await writeParquet(file, async function* () {
      yield* rows;
    });
  }
  return output;
}
