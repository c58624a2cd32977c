/** Rollouts as verl dumps them, and their import: what several benches of imported runs begin with. */
import { loadConfig } from "../server/rules/load.ts";
import { importRun } from "../server/store/imported/importRun.ts";

/** Rollouts of a group. */
export const group = 8;

interface Rollout {
  readonly step: number;
  /** Within the step. */
  readonly row: number;
  /** Added to the right answer. */
  readonly off: 0 | 1;
  readonly score: number;
}

/** What verl gives a wrong answer in the right form, as a float32. */
export const formScore = 0.10000000149011612;

/** @param words before the answer */
export const verlLine = (words: string, { step, row, off, score }: Rollout): string => {
  const prompt = Math.floor(row / group);
  return `${JSON.stringify({
    input: `user\nWhat is ${prompt} + ${step}?\nassistant\n`,
    output: `${words}${row}\n#### ${prompt + step + off}`,
    gts: String(prompt + step),
    score,
    step,
    uid: `${String(prompt).padStart(8, "0")}-${step}_${row % group}_0`,
  })}\n`;
};

/** @param from the folder that the trainer wrote to @param file the run's config, `text` */
export const importWith = (
  { store, from }: { readonly store: string; readonly from: string },
  { file, text }: { readonly file: string; readonly text: string },
): ReturnType<typeof importRun> =>
  importRun({
    store,
    folder: from,
    name: undefined,
    copy: false,
    config: { file, text, set: [], loaded: loadConfig(file, { recorded: true }).config!, version: null },
    version: "bench",
    progress: () => undefined,
  });
