/** What says whether a file has changed since it was last read. */
import { type Stats } from "node:fs";
import { statsOf } from "../inputFile.ts";

/**
 * A file's time of change and its size: a file system counts time in ticks of some milliseconds, so a file that is
 * emptied and written again may keep its time.
 */
export const stampOf = ({ mtimeMs, size }: Pick<Stats, "mtimeMs" | "size">): string => `${mtimeMs} ${size}`;

/** undefined: there is no such file. */
export function fileStamp(file: string): string | undefined {
  const stats = statsOf(file);
  return stats && stampOf(stats);
}
