/** Which of a run's checkpoints is its best: `checkpoints/best.json`, written when an evaluation was better than all before. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError, messageOf } from "../lib/errors.ts";
import { putInPlace } from "../lib/putInPlace.mjs";

const schema = z.object({ step: z.int().nonnegative(), metric: z.string(), value: z.number() });
/** `value` of `metric` at the evaluation after `step`. */
export type BestCheckpoint = z.output<typeof schema>;

const fileOf = (runFolder: string): string => join(runFolder, "checkpoints", "best.json");

/** undefined where the run keeps none. @throws UserError for a file that is damaged */
export function readBest(runFolder: string): BestCheckpoint | undefined {
  const file = fileOf(runFolder);
  if (!existsSync(file)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw new UserError(`${file} is damaged: ${messageOf(error)}`, {
      file,
      code: "best-damaged",
      cause: error,
      action: "Delete the file; the checkpoints next to it are intact. `gradus runs show RUN` lists them.",
    });
  }
}

/** By rename: a reader sees the former best or this one. */
export function writeBest(runFolder: string, best: BestCheckpoint): void {
  const file = fileOf(runFolder);
  writeFileSync(`${file}.tmp`, `${JSON.stringify(best)}\n`, { flush: true });
  putInPlace(`${file}.tmp`, file);
}
