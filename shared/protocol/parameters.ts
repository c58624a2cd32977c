/** What several requests ask with. */
import { z } from "zod";
import { withDrive } from "../lib/drive.ts";
import { runIdSchema } from "../run/runId.ts";

export const path = z.string().overwrite((text) => withDrive(text));

export const run = z.object({ run: runIdSchema });

/** What a question about a part of a run's steps may say: one step, or a first and a last. */
export const stepRange = {
  step: z.number().int().optional(),
  from: z.number().int().optional(),
  to: z.number().int().optional(),
};

/** A config, as it may be open in an editor. */
export const edited = z.object({
  /** The config's file, as a path or a `file:` URI. */
  uri: z.string(),
  /** Its text as it is in an editor; default: as it is on disk. */
  text: z.string().optional(),
  /** Texts of reward files that are open in an editor, by their paths. */
  unsaved: z.record(z.string(), z.string()).optional(),
  /** Whether functions of the workspace may be run: else their recorded values are kept. */
  trusted: z.boolean().default(false),
});
