/** A person found a run's verdict wrong: kept in the run's folder, for as long as the verdict is that one. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, ResultOf, runsDismiss } from "../../../shared/protocol/protocol.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import type { RemoteStore } from "../../store/remote.ts";

type Remote = Pick<RemoteStore, "call">;

const kept = z.object({
  state: z.string(),
  since: z.number().nullable(),
  reason: z.string(),
  at: z.string(),
});
const placeIn = (folder: string): string => join(folder, "dismissed.json");

/** The verdict, with why it was dismissed. What is dismissed is a state and when it began, not all that come later. */
export async function withDismissal(
  remote: Remote,
  run: string,
  verdict: Verdict | null,
): Promise<Verdict | null> {
  if (verdict === null) return null;
  const { folder } = await remote.call("show", { run });
  const place = placeIn(folder);
  const read = existsSync(place) ? kept.safeParse(parsed(readFileSync(place, "utf8"))) : undefined;
  if (read?.success !== true || read.data.state !== verdict.state || read.data.since !== verdict.since)
    return verdict;
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

/** @param current the run's verdict as it is */
export async function dismiss(
  remote: Remote,
  { run, reason }: ParamsOf<typeof runsDismiss>,
  current: Verdict | null,
): Promise<ResultOf<typeof runsDismiss>> {
  const { folder } = await remote.call("show", { run });
  const place = placeIn(folder);
  if (reason.trim() === "") rmSync(place, { force: true });
  else if (current === null)
    throw new UserError("This run has no verdict yet.", { action: "Wait for its first steps." });
  else {
    const { state, since } = current;
    const text = JSON.stringify({ state, since, reason: reason.trim(), at: new Date().toISOString() });
    writeFileSync(`${place}.new`, text);
    renameSync(`${place}.new`, place);
  }
  return { verdict: await withDismissal(remote, run, current) };
}
