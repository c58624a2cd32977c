import { UserError } from "../../../shared/lib/errors.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import type { RemoteStore } from "../../store/remote.ts";

/** @throws UserError where the store has no such run */
export async function existingRun(remote: RemoteStore, run: string): Promise<RunSummary> {
  const summary = await remote.call("summary", run);
  if (summary !== null) return summary;
  throw new UserError(`There is no run ${run} in this store.`, {
    code: "unknownRun",
    action: "List the runs: gradus runs list.",
  });
}
