/** What a run in one file begins with: which run it is, and what each of its files is known by. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { runIdSchema } from "../../../shared/run/runId.ts";

export const manifestName = "manifest.json";
export const archiveEnding = ".gradusrun";

export const manifestSchema = z.object({
  format: z.literal("gradus-run"),
  /** Grows when an earlier version could not read it. */
  version: z.literal(1),
  run: runIdSchema,
  /** Of Gradus, that wrote it. */
  gradus: z.string(),
  checkpoints: z.boolean(),
  files: z.array(
    z.object({
      /** From the run's folder, with `/`. */
      path: z.string(),
      bytes: z.number().int().nonnegative(),
      sha256: z.string(),
      /** Milliseconds since 1970. */
      mtime: z.number(),
    }),
  ),
});
export type Manifest = z.output<typeof manifestSchema>;

export async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
