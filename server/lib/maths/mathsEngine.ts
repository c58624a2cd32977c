/** Whether two answers are the same, decided on a thread that can be ended. */
import { threadFile } from "../threadFile.ts";
import { Lanes } from "../threads/lanes.ts";
import { Thread } from "../threads/thread.ts";

export interface Comparison {
  /** LaTeX. */
  readonly gold: string;
  readonly answer: string;
  /** That it may take. */
  readonly seconds: number;
}

export type Compared =
  | { readonly kind: "same"; readonly same: boolean }
  /** Not decided: it took too long, or the engine failed at it. */
  | { readonly kind: "failed"; readonly message: string };

const begin = async (): Promise<Thread<Comparison, Compared>> => {
  const named = process.env["GRADUS_MATHS_THREAD"];
  const thread = new Thread<Comparison, Compared>(
    named ?? threadFile("mathsThread.mjs", "The thread that compares answers"),
    "gradus-maths",
  );
  await thread.ready();
  return thread;
};

export const mathsEngine = (): Lanes<Comparison, Compared> =>
  new Lanes<Comparison, Compared>(1, {
    begin,
    lost: ({ seconds }, why, _took, error) => ({
      kind: "failed",
      message: why === "timeout" ? `took longer than ${seconds} s` : (error?.message ?? "its thread ended"),
    }),
  });
