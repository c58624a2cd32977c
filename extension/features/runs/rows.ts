/** Rows of the runs view that a command was given. Pure. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { isWatched } from "../../../shared/run/origin.ts";
import type { Family } from "./families.ts";

/** A run's id in what a command was given: an id, a row of the tree, or nothing. */
export function runIn(word: unknown): string | undefined {
  if (typeof word === "string" && word !== "") return word;
  if (typeof word !== "object" || word === null || !("run" in word)) return undefined;
  const { run } = word;
  if (typeof run === "string") return run;
  return typeof run === "object" && run !== null && "id" in run && typeof run.id === "string"
    ? run.id
    : undefined;
}

/** Runs of a row that is a family. */
function familyIn(row: unknown): readonly RunSummary[] {
  if (typeof row !== "object" || row === null || !("family" in row)) return [];
  return (row.family as Family).all;
}

/**
 * Rows that a command is about: all that are selected where the one that was clicked is among them, else that one.
 * @param more rows of the tree that are selected
 */
export function rowsOf(word: unknown, more: unknown): readonly unknown[] {
  const rows: readonly unknown[] = Array.isArray(more) ? more : [];
  if (word === undefined) return rows;
  const clicked = runIn(word);
  const isAmong = rows.some((row) => row === word || (clicked !== undefined && runIn(row) === clicked));
  return isAmong ? rows : [word];
}

/** Ids of the runs that rows stand for, those of a family among them, each once. */
export function runsIn(rows: readonly unknown[]): readonly string[] {
  const ids = rows.flatMap((row) => {
    const family = familyIn(row);
    return family.length > 0 ? family.map(({ id }) => id) : (runIn(row) ?? []);
  });
  return [...new Set(ids)];
}

export type Steering = "stop" | "pause" | "continue";

/**
 * Those of `runs` that can be steered from here. To stop a run that is watched ends the watching; all else is up to its trainer.
 * @throws UserError where there are runs, and none can
 */
export function steered(runs: readonly RunSummary[], action: Steering): readonly RunSummary[] {
  const live = runs.filter((run) => isLive(run.status) && (action === "stop" || !isWatched(run)));
  const [first] = runs;
  if (first === undefined || live.length > 0) return live;
  if (isWatched(first))
    throw new UserError(`Another program trains ${first.name}, and Gradus watches its folder.`, {
      action: `Ask that program to ${action}.`,
    });
  throw new UserError(`${first.name} is not running: it is ${first.status}.`);
}
