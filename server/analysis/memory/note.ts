/** What was predicted of a run's memory, in its folder: a process that is killed for its memory says nothing itself. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const schema = z.object({ predicted_bytes: z.number(), limit_bytes: z.number(), advice: z.string() });
type MemoryNote = z.output<typeof schema>;
const fileOf = (runFolder: string): string => join(runFolder, "memory.json");

/** In MiB, from 1 GiB on in GiB. */
export const sizeText = (bytes: number): string =>
  bytes >= 2 ** 30
    ? `${(bytes / 2 ** 30).toFixed(bytes < 10 * 2 ** 30 ? 2 : 0)} GiB`
    : `${Math.round(bytes / 2 ** 20)} MiB`;

export function writeMemoryNote(runFolder: string, note: MemoryNote): void {
  writeFileSync(fileOf(runFolder), `${JSON.stringify(note)}\n`);
}

/** What to say of a process that ended without a word, as sentences; empty where nothing was predicted. */
export function memoryNote(runFolder: string): string {
  const file = fileOf(runFolder);
  if (!existsSync(file)) return "";
  const note = schema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!note.success) return "";
  const { predicted_bytes, advice } = note.data;
  return ` It printed nothing, which is typical when the system kills a process that runs out of memory (this one was predicted to need about ${sizeText(predicted_bytes)}). If that happened: ${advice}`;
}
