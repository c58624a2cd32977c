/** What `gradus reward --gold`, `--probe` and `--attack` print. */
import type { AttackReport, Hole } from "../../analysis/rewardChecks/attackTasks.ts";
import type { GoldFailure } from "../../analysis/rewardChecks/gold.ts";
import type { ProbeFinding, ProbeReport } from "../../analysis/rewardChecks/probe.ts";
import {
  goldMessage,
  holeMessage,
  probeMessage,
  quoted,
  thousands,
} from "../../analysis/rewardChecks/sentences.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { pathText } from "./diagnostics.ts";

/** A finding of the data's own line; without lines, the row is named. */
export function goldLine(failure: GoldFailure): string {
  const { file, line, row } = failure;
  const place = file === undefined ? "" : `${pathText(file)}${line === undefined ? "" : `:${line + 1}:1`}: `;
  const which = line === undefined && row !== undefined ? `row ${row}: ` : "";
  return visibleText(`${place}warning: ${which}${goldMessage(failure)} [gold-answer]`);
}

/** @param termPlace `file:line:column` of a term in the config, for those that are no function of one's own */
export function probeLine(finding: ProbeFinding, termPlace: (term: string) => string): string {
  const { place, severity, probe, term, response } = finding;
  const where = place === undefined ? termPlace(term) : `${pathText(place.file)}:${place.line + 1}:1`;
  return visibleText(`${where}: ${severity}: ${probeMessage(finding)} [probe-${probe}]${quoted(response)}`);
}

export function probeText({ tasks, probes, findings }: ProbeReport): string {
  const count = (severity: ProbeFinding["severity"]): number =>
    findings.filter((one) => one.severity === severity).length;
  const found = (["error", "warning", "info"] as const)
    .filter((severity) => count(severity) > 0)
    .map(
      (severity) =>
        `${count(severity)} ${severity}${count(severity) === 1 || severity === "info" ? "" : "s"}`,
    );
  return `${probes} kinds of answer on ${tasks} tasks: ${found.length === 0 ? "none earns what it should not" : found.join(", ")}`;
}

export const holeLine = (hole: Hole): string => {
  const { place, examples } = hole;
  const where = place === undefined ? "" : `${pathText(place.file)}:${place.line + 1}:1: `;
  return `${where}error: ${holeMessage(hole)} [attack]${quoted(examples[0]?.response ?? "")}`;
};

export const attackText = ({ answers, seconds }: Omit<AttackReport, "holes">, holes: number): string =>
  `${holes === 0 ? "no hole" : `${holes} hole${holes === 1 ? "" : "s"}`} in ${Math.round(seconds)} s and ${thousands(answers)} answers`;
