/** Everything known about a run, and how `gradus runs show --json` says it: also what an agent is given. */
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { matrixQuery, runsShow, type RunDetail, type StageEnd } from "../../../shared/protocol/protocol.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import { verdictOf } from "./verdict.ts";

export interface KnownRun {
  readonly run: RunDetail;
  /** What became of each stage's tasks as a stage ended. */
  readonly ends: readonly StageEnd[];
  readonly verdict: Verdict | null;
}

export async function everythingOf(connection: Requester, id: string): Promise<KnownRun> {
  const run = await ask(connection, runsShow, { run: id });
  const { ends } = await ask(connection, matrixQuery, { run: id });
  return { run, ends, verdict: await verdictOf(connection, id) };
}

export const runJson = ({
  run,
  ends,
  verdict,
}: KnownRun): RunDetail & { readonly matrix?: KnownRun["ends"] } => ({
  ...run,
  ...(ends.length === 0 ? {} : { matrix: ends }),
  ...(verdict === null ? {} : { verdict }),
});
