/** Asks for a run's verdict. */
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { runsVerdict } from "../../../shared/protocol/protocol.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";

/** JSON-RPC: the daemon is of a version that has no such request. */
const unknownMethod = "-32601";

/** null before its first training step, and of a daemon that is older than this command and goes on for a live run. */
export async function verdictOf(connection: Requester, run: string): Promise<Verdict | null> {
  try {
    return (await ask(connection, runsVerdict, { run })).verdict;
  } catch (error) {
    if (error instanceof UserError && error.detail.code === unknownMethod) return null;
    throw error;
  }
}
