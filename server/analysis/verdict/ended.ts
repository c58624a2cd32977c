/** What a run that has ended came to as a whole, where its steps alone did not tell. */
import type { RunStatus } from "../../../shared/protocol/runStatus.ts";
import type { RunWarning } from "../../../shared/run/outcome.ts";
import { isAlarm, type VerdictBrief, type VerdictState } from "../../../shared/run/verdict.ts";

export interface Ended {
  readonly status: RunStatus;
  readonly message: string | null;
  readonly step: number;
  readonly warnings: readonly RunWarning[];
}

const stateOf: Readonly<Record<RunWarning["reason"], VerdictState>> = {
  "nothing-trained": "failing",
  "rewards-failed": "failing",
  "held-out-worse": "collapsed",
};

/** null: its steps tell. @param brief what they tell; null before the first */
export function endedVerdict(brief: VerdictBrief | null, ended: Ended): VerdictBrief | null {
  const { status, message, step, warnings } = ended;
  if (brief !== null && isAlarm(brief.state)) return null;
  if (status === "failed") {
    const place = step < 0 ? "before its first step" : `at step ${step}`;
    const why = message === null || message === "" ? "" : `: ${message}`;
    return {
      state: "failing",
      label: "failed",
      since: step < 0 ? null : step,
      headline: `The run failed ${place}${why}`,
    };
  }
  const [warning] = warnings;
  if (warning === undefined) return null;
  return { state: stateOf[warning.reason], label: warning.label, since: null, headline: warning.message };
}
