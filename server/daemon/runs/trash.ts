/** Deleting a run's folder: renamed first, so that it is gone at once and for good, and never anything outside the store. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { runFolder, runsFolder, trashPrefix } from "../../store/files.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { realPath } from "../../../shared/lib/realPath.ts";

const trashOf = (store: string, run: string): string => join(runsFolder(store), `${trashPrefix}${run}`);

/** A folder `runs` that is a link leads out of the store: what lies there may be anything. */
function refuseLink(store: string): void {
  const runs = runsFolder(store);
  if (!existsSync(runs) || realPath(runs) === join(realPath(store), "runs")) return;
  throw new UserError(`${runs} links out of its store, to ${realPath(runs)}, so nothing there is deleted.`, {
    file: runs,
    code: "refused",
    action: "Remove the run's folder by hand, or link the whole .gradus folder instead of runs.",
  });
}

/** @throws UserError where the folder would not be one of the store's own */
export function toTrash(store: string, run: string): void {
  const folder = runFolder(store, run);
  refuseLink(store);
  if (existsSync(folder)) putInPlace(folder, trashOf(store, run));
}

export async function removeTrash(store: string, run: string): Promise<void> {
  refuseLink(store);
  // Windows keeps what somebody reads until they are done.
  await rm(trashOf(store, run), { recursive: true, force: true, maxRetries: 10 });
}
