/** What people say of a run: `marks.json` in its folder, so that a store that is read again from the logs loses nothing. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { putInPlace } from "../lib/putInPlace.mjs";

const schema = z.object({
  tags: z.array(z.string()).default([]),
  note: z.string().default(""),
  pinned: z.boolean().default(false),
  archived: z.boolean().default(false),
});
export type RunMarks = z.output<typeof schema>;
/** What is left out stays. */
export type MarkChange = { readonly [Key in keyof RunMarks]?: RunMarks[Key] | undefined };

const none: RunMarks = { tags: [], note: "", pinned: false, archived: false };
const pathOf = (runFolder: string): string => join(runFolder, "marks.json");

/** A file that is damaged says nothing: the run itself is whole. */
export function readMarks(runFolder: string): RunMarks {
  const path = pathOf(runFolder);
  if (!existsSync(path)) return none;
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return none;
  }
}

/** Writes by rename. Tags are sorted and each there once. @returns what holds now */
export function writeMarks(runFolder: string, change: MarkChange): RunMarks {
  const before = readMarks(runFolder);
  const marks = {
    tags: change.tags ?? before.tags,
    note: change.note ?? before.note,
    pinned: change.pinned ?? before.pinned,
    archived: change.archived ?? before.archived,
  };
  const tags = [...new Set(marks.tags.map((tag) => tag.trim()).filter((tag) => tag !== ""))].sort();
  const path = pathOf(runFolder);
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...marks, tags }, null, 2)}\n`);
  putInPlace(`${path}.new`, path);
  return { ...marks, tags };
}
