/** How a run on a site ended, by its job and what the trainer printed last. */
import { causeText } from "../../analysis/failure/causeText.ts";
import { rootCause } from "../../analysis/failure/rootCause.ts";
import type { JobState } from "../jobs/runner.ts";

export interface SiteEnd {
  readonly status: "finished" | "stopped" | "failed";
  readonly message: string;
}

interface Asked {
  readonly site: string;
  /** Whether it was asked to stop. */
  readonly stopping: boolean;
  readonly log: string;
}

export function endOf(state: JobState, { site, stopping, log }: Asked): SiteEnd {
  if (stopping) return { status: "stopped", message: `Stopped on ${site}.` };
  switch (state.kind) {
    case "ended":
      if (state.code === 0) return { status: "finished", message: "" };
      return state.code === null
        ? { status: "stopped", message: `Stopped on ${site}, not by Gradus. ${state.message}`.trim() }
        : {
            status: "failed",
            message: `The trainer on ${site} ended with exit code ${state.code}. ${whyOf(log)}`,
          };
    case "gone":
      return { status: "failed", message: `The job on ${site} is no more: ${state.message}. ${goOn}` };
    default:
      return { status: "failed", message: `${site} knows nothing of the job any more. ${goOn}` };
  }
}

const goOn = "Go on from its last checkpoint: gradus runs resume.";

/** The first cause and what to do about it, where the log shows one that is known; else what was said last. */
function whyOf(log: string): string {
  const found = rootCause(log);
  return found === undefined ? `It said last: ${lastSaid(log)}` : causeText(found);
}

/** The last line that says something. */
function lastSaid(log: string): string {
  const lines = log.split(/[\r\n]+/).map((line) => line.trim());
  return lines.findLast((line) => line !== "" && !/^[\d%| █▏▎▍▌▋▊▉]+$/.test(line)) ?? "it printed nothing";
}
