/** How often verdicts were wrong where it was measured: `npm run bench -- verdict` writes the numbers. */
import { isAlarm, type VerdictState } from "../../../shared/run/verdict.ts";
import measured from "./measured.json" with { type: "json" };

/** A sentence; null where it was not measured. */
export function reliabilityOf(state: VerdictState): string | null {
  const { healthy, falseAlarms } = measured;
  return isAlarm(state) && healthy > 0
    ? `An alarm was wrong in ${falseAlarms} of ${healthy} healthy runs that it was tried on.`
    : null;
}
