/** A person found a run's verdict wrong: `dismissed.json` in its folder, so that a store that is read again from the logs loses nothing. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { VerdictLabel } from "./verdict.ts";
import { putInPlace } from "../lib/putInPlace.mjs";

const kept = z.object({
  state: z.string(),
  since: z.number().nullable(),
  reason: z.string(),
  at: z.string(),
});
const pathOf = (runFolder: string): string => join(runFolder, "dismissed.json");

/**
 * The verdict, with why it was dismissed. What is dismissed is a state and when it began, not all that come later. A file
 * that is damaged dismisses nothing.
 */
export function withDismissal<Told extends Pick<VerdictLabel, "state" | "since">>(
  runFolder: string,
  verdict: Told,
): Told & { readonly dismissed?: { readonly reason: string; readonly at: string } } {
  const path = pathOf(runFolder);
  if (!existsSync(path)) return verdict;
  const read = kept.safeParse(parsed(readFileSync(path, "utf8")));
  if (!read.success || read.data.state !== verdict.state || read.data.since !== verdict.since) return verdict;
  return { ...verdict, dismissed: { reason: read.data.reason, at: read.data.at } };
}

/** A file of another program, or half of one, is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Written by rename. @param reason empty: what was dismissed counts again */
export function writeDismissal(
  runFolder: string,
  { state, since }: Pick<VerdictLabel, "state" | "since">,
  reason: string,
): void {
  const path = pathOf(runFolder);
  if (reason.trim() === "") return rmSync(path, { force: true });
  const text = JSON.stringify({ state, since, reason: reason.trim(), at: new Date().toISOString() });
  writeFileSync(`${path}.new`, text);
  putInPlace(`${path}.new`, path);
}
