/** Whether a Harbor folder can be trusted: its own solution earns exactly 1, doing nothing exactly 0. */
import { Refused } from "./dockerfile.ts";
import { Exceeded, HarborEpisode, NoReward } from "./episode.ts";
import type { Limits } from "./limits.ts";
import { readHarborTask, type HarborTask } from "./taskFolder.ts";

export type HarborOutcome =
  | { readonly kind: "passed"; readonly folder: string; readonly limits: Limits }
  | { readonly kind: "failed"; readonly folder: string; readonly message: string }
  /** It asks for what this machine cannot give. */
  | {
      readonly kind: "refused";
      readonly folder: string;
      readonly message: string;
      readonly file: string;
      readonly line: number;
    };

type Attempt = { readonly reward: number; readonly output: string } | { readonly trouble: string };

async function attempt(task: HarborTask, solves: boolean): Promise<Attempt> {
  const episode = await HarborEpisode.open(task);
  try {
    if (solves) {
      const solved = await episode.solve();
      if (solved === false) return { trouble: "solution/solve.sh is missing" };
      if (solved.isLate) return { trouble: `solution/solve.sh took longer than ${task.seconds} s` };
    }
    return await episode.grade();
  } catch (error) {
    if (error instanceof NoReward || error instanceof Exceeded) return { trouble: error.message };
    throw error;
  } finally {
    await episode.close();
  }
}

const tail = (output: string): string => {
  const last = output.trim().split("\n").slice(-5).join(" | ");
  return last === "" ? "" : `; its tests ended with: ${last}`;
};

/** @throws UserError where this machine has no namespaces */
export async function checkHarborFolder(folder: string): Promise<HarborOutcome> {
  let task: HarborTask;
  try {
    task = readHarborTask(folder);
  } catch (error) {
    if (error instanceof Refused)
      return { kind: "refused", folder, message: error.message, file: error.file, line: error.line };
    throw error;
  }
  for (const [solves, wanted, who] of [
    [true, 1, "the solution"],
    [false, 0, "doing nothing"],
  ] as const) {
    const done = await attempt(task, solves);
    if ("trouble" in done) return { kind: "failed", folder, message: `${who}: ${done.trouble}` };
    if (done.reward !== wanted)
      return {
        kind: "failed",
        folder,
        message: `${who} earns ${done.reward}, not ${wanted}${tail(done.output)}`,
      };
  }
  return { kind: "passed", folder, limits: task.limits };
}
