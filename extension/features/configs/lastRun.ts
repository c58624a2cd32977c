/** What the lens above a config says of its last run. Pure. */
import { formatFraction, formatNumber } from "../../../shared/lib/format.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { arrows, type Trend } from "../../../shared/lib/trend.ts";
import { isWatched, progressText } from "../../../shared/run/origin.ts";
import { isReading } from "../runs/model.ts";
import { warningText } from "../runs/treeModel.ts";

/** "Last run: reward 0.41 ↑, pass@1 20.4 % → 38.8 %", or a live run's progress. */
export function lastRunTitle(run: RunSummary, trend?: Trend): string {
  const reward = run.headline["reward/total"];
  const [first, last] = [run.first?.["eval/pass@1"], run.last?.["eval/pass@1"]];
  const pass = last ?? run.headline["eval/pass@1"];
  const fell = first !== undefined && pass !== undefined && pass < first;
  const from = last === undefined || first === undefined ? "" : `${formatFraction(first, 1)} → `;
  const numbers = [
    // A reward that rises while held-out answers get worse is not good news, so no arrow shows it.
    ...(reward === undefined
      ? []
      : [
          `reward ${formatNumber(reward)}${trend === undefined || (trend === "up" && fell) ? "" : ` ${arrows[trend]}`}`,
        ]),
    ...(pass === undefined ? [] : [`pass@1 ${from}${formatFraction(pass, 1)}`]),
  ].join(", ");
  if (isReading(run)) return "Last run: reading its log";
  if (isLive(run.status))
    return `${isWatched(run) ? "$(eye) Watching: " : "$(pulse) "}${progressText(run).replace(/^s/, "S")}${numbers === "" ? "" : `: ${numbers}`}`;
  const warning = warningText(run);
  const status = run.status === "finished" && (numbers !== "" || warning !== "") ? "" : run.status;
  const parts = [status, warning === "" ? "" : `$(warning) ${warning}`, numbers];
  return `Last run: ${parts.filter((part) => part !== "").join(", ")}`;
}
