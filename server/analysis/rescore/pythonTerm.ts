/** Python rewards while they are being written: each keeps its process, which loads a new text before the next call. */
import { resolve } from "node:path";
import { z } from "zod";
import type { Choice } from "../../core/declaration.ts";
import { selectRows } from "../../core/rows/batch.ts";
import { PythonReward, type PythonRewardOptions } from "../../methods/reward/own/python/pythonReward.ts";
import { inputOf } from "../../methods/reward/own/userReward.ts";
import { divided, userParams, type UserTerm } from "./userTerm.ts";

const pythonParams = userParams.extend({
  python: z.string().optional(),
  messages: z.boolean().optional(),
});

/** @param chosen the Python that the run was started with */
export function pythonOptions(
  choice: Choice<"reward">,
  term: string,
  seconds: number,
  chosen: string | undefined,
): PythonRewardOptions {
  const { args = {}, timeout = seconds, python, messages, ...params } = pythonParams.parse(choice.params);
  const { folder } = choice;
  const file = resolve(folder, params.file);
  const environment = chosen === undefined ? process.env : { ...process.env, GRADUS_PYTHON: chosen };
  return { ...params, file, folder, term, args, timeout, python, messages, environment };
}

/** Terms whose processes are kept. */
const mostKept = 4;

export class PythonTerms {
  private readonly rewards = new Map<string, PythonReward>();

  /** @param chosen the Python that the run was started with */
  constructor(private readonly chosen: string | undefined) {}

  /** @param unsaved texts of files that are open in an editor, by their paths */
  open(
    choice: Choice<"reward">,
    term: string,
    seconds: number,
    unsaved: Readonly<Record<string, string>>,
  ): UserTerm {
    const { file, args, reward } = this.reward(choice, term, seconds);
    const { sha256 } = reward.function.open(unsaved[file]);
    return {
      file,
      sha256,
      score: async (batch, rows, step, signal) => {
        if (rows.some((row) => batch.records[row]?.steps !== undefined)) throw divided(file);
        const inputs = rows.map((row) => inputOf(batch, row, { step, args }));
        const own = rows.length === batch.rows ? batch : selectRows(batch, rows);
        return [...(await reward.scoreRows({ batch: own, inputs, step, signal }))];
      },
    };
  }

  /** Starts the process before it is needed. */
  warm(choice: Choice<"reward">, term: string, seconds: number): void {
    try {
      this.reward(choice, term, seconds).reward.function.warm();
    } catch {
      return; // without a Python: that is said when something is to be scored
    }
  }

  async close(): Promise<void> {
    const all = [...this.rewards.values()];
    this.rewards.clear();
    await Promise.all(all.map((reward) => reward.close()));
  }

  private reward(
    choice: Choice<"reward">,
    term: string,
    seconds: number,
  ): { file: string; args: PythonRewardOptions["args"]; reward: PythonReward } {
    const options = pythonOptions(choice, term, seconds, this.chosen);
    const { file, args } = options;
    const key = JSON.stringify({ ...options, environment: undefined });
    const reward = this.rewards.get(key) ?? new PythonReward(options);
    this.rewards.delete(key);
    this.rewards.set(key, reward);
    for (const [oldest, old] of this.rewards) {
      if (this.rewards.size <= mostKept) break;
      this.rewards.delete(oldest);
      void old.close();
    }
    return { file, args, reward };
  }
}
