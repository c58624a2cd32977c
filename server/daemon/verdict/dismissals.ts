/** A person finds a run's verdict wrong, or right again. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, ResultOf, runsDismiss } from "../../../shared/protocol/protocol.ts";
import { withDismissal, writeDismissal } from "../../../shared/run/dismissal.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import type { RemoteStore } from "../../store/remote.ts";

/** @param current the run's verdict as it is */
export async function dismiss(
  remote: Pick<RemoteStore, "call">,
  { run, reason }: ParamsOf<typeof runsDismiss>,
  current: Verdict | null,
): Promise<ResultOf<typeof runsDismiss>> {
  const { folder } = await remote.call("show", { run });
  if (current === null)
    throw new UserError("This run has no verdict yet.", { action: "Wait for its first steps." });
  writeDismissal(folder, current, reason);
  await remote.call("marked", run);
  const { dismissed: _, ...verdict } = current;
  return { verdict: withDismissal(folder, verdict) };
}
