/** What `gradus reward --gold`, `--probe` and `--attack` print. */
import type { AttackReport, Hole } from "../../analysis/rewardChecks/attackTasks.ts";
import type { CheckedTask } from "../../analysis/rewardChecks/checkedTasks.ts";
import {
  causeMessage,
  causeSeverity,
  type FailureCause,
} from "../../analysis/rewardChecks/failures/causes.ts";
import type { FormatFinding } from "../../analysis/rewardChecks/format/checkFormat.ts";
import type { GoldFailure, GoldReport } from "../../analysis/rewardChecks/gold.ts";
import { goldGroups, sharedMessage } from "../../analysis/rewardChecks/goldGroups.ts";
import type { FilePlace } from "../../analysis/rewardChecks/ownFiles.ts";
import { severities, type ProbeFinding, type ProbeReport } from "../../analysis/rewardChecks/probe.ts";
import {
  capital,
  formatMessage,
  goldMessage,
  holeMessage,
  ownProcessMessage,
  probeMessage,
  quoted,
} from "../../analysis/rewardChecks/sentences.ts";
import { groupedBy } from "../../analysis/rewardChecks/findings.ts";
import { formatCount, formatNumber } from "../../../shared/lib/format.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { pathText, placeText as placeWords } from "../text/diagnostics.ts";
import { oneLine } from "../text/terminal.ts";

/** Of the data's own line; without lines, the row is named. */
const goldLine = (failure: GoldFailure): string =>
  visibleText(`${warnedAt(failure)}${goldMessage(failure)} [gold-answer]`);

function warnedAt({ file, line, row }: Omit<CheckedTask, "task">): string {
  const place = file === undefined ? "" : `${pathText(file)}${line === undefined ? "" : `:${line + 1}:1`}: `;
  return `${place}warning: ${line === undefined && row !== undefined ? `row ${row}: ` : ""}`;
}

/** Of the data's line with the first such task. */
export function ownProcessLine({
  ownProcess,
  checked,
  without,
}: Pick<GoldReport, "ownProcess" | "checked" | "without">): string | undefined {
  if (ownProcess === undefined) return undefined;
  const message = ownProcessMessage(ownProcess, checked + without);
  return visibleText(`${warnedAt(ownProcess.first)}${message} [own-process]`);
}

/**
 * One line for what rows have in common, at the reward; a line for each row that fails for itself.
 * @param rewardPlace where the reward is
 * @param said what earlier rows have in common: it is left out
 */
export function goldLines(report: GoldReport, rewardPlace: string, said: Set<string>): string[] {
  const { shared, single } = goldGroups(report);
  const fresh = shared.filter(({ trait = "" }) => !said.has(trait));
  for (const { trait = "" } of fresh) said.add(trait);
  return [
    ...fresh.map((group) =>
      visibleText(`${rewardPlace}: warning: ${capital(sharedMessage(group, report))} [gold-answer]`),
    ),
    ...single.map(goldLine),
  ];
}

/** @param termPlace as of `probeLine` */
export const formatLine = (finding: FormatFinding, termPlace: () => string): string =>
  visibleText(
    `${finding.place === undefined ? termPlace() : placeText(finding.place)}: warning: \`${finding.term}\`: ${formatMessage(finding)} [gold-format]${quoted(finding.response)}`,
  );

/** @param termPlace as of `probeLine` */
export const causeLine = (cause: FailureCause, termPlace: (term: string) => string): string =>
  visibleText(
    `${cause.place === undefined ? termPlace(cause.term) : placeText(cause.place)}: ${causeSeverity(cause)}: ${causeMessage(cause)} [reward-failure]`,
  );

export const placeText = (place: FilePlace): string => placeWords(pathText(place.file), place, place.cell);

/** @param termPlace `file:line:column` of a term in the config, for those that are no function of one's own */
export function probeLine(finding: ProbeFinding, termPlace: (term: string) => string): string {
  const { place, severity, probe, term, response } = finding;
  const where = place === undefined ? termPlace(term) : placeText(place);
  return visibleText(`${where}: ${severity}: ${probeMessage(finding)} [probe-${probe}]${quoted(response)}`);
}

/** Those of a group that its first line leaves unnamed: "… and 14 more kinds of answer score 1: an answer of white space, …". */
export function moreProbes(others: readonly ProbeFinding[]): string[] {
  const said = others.map(({ message }): Said => {
    const [, title = message, does = ""] =
      /^(.*?)((?: scores| earns| makes)\b.*?)(?: in \d+ of \d+ tasks)?$/s.exec(message) ?? [];
    return { title, does };
  });
  return groupedBy(said, ({ does }) => does).map((alike) => {
    const titles = alike.slice(0, mostNamed).map(({ title }) => title);
    const more = alike.length === 1 ? `1 more kind of answer${alike[0].does}` : several(alike);
    return visibleText(`    … and ${more}: ${some(titles, alike.length, ", ")}`);
  });
}

interface Said {
  readonly title: string;
  /** " scores 1 and counts as a success". */
  readonly does: string;
}

const several = (alike: readonly Said[]): string =>
  `${alike.length} more kinds of answer${(alike[0]?.does ?? "").replace(/^ (score|earn|make)s\b/, " $1").replace(" and counts as a success", " and count as successes")}`;

/** Ways that please the same line. */
export function moreHoles(others: readonly Hole[]): string[] {
  if (others.length === 0) return [];
  const ways = others.length === 1 ? "way" : "ways";
  const named = others.slice(0, fewNamed).map(({ pieces }) => pieces.join(" + ") || "the empty answer");
  return [visibleText(`    … and ${others.length} more ${ways} there: ${some(named, others.length, "; ")}`)];
}

const [fewNamed, mostNamed] = [4, 8];
const some = (named: readonly string[], count: number, comma: string): string =>
  `${named.join(comma)}${count > named.length ? `${comma}… (--json lists all)` : ""}`;

export function probeText({ tasks, probes, findings }: ProbeReport): string {
  const earned = findings.filter(({ error }) => error === undefined);
  const count = (severity: ProbeFinding["severity"]): number =>
    earned.filter((one) => one.severity === severity).length;
  const failing = new Set(findings.flatMap(({ probe, error }) => (error === undefined ? [] : [probe]))).size;
  const found = severities
    .filter((severity) => count(severity) > 0)
    .map(
      (severity) =>
        `${count(severity)} ${severity}${count(severity) === 1 || severity === "info" ? "" : "s"}`,
    )
    .concat(failing === 0 ? [] : [`${failing} make it fail`]);
  return `${probes} kinds of answer on ${tasks} tasks: ${found.length === 0 ? "none earns what it should not" : found.join(", ")}`;
}

export const holeLine = (hole: Hole): string => {
  const { place, examples } = hole;
  const where = place === undefined ? "" : `${placeText(place)}: `;
  return `${where}error: ${holeMessage(hole)} [attack]${quoted(examples[0]?.response ?? "")}`;
};

export const attackText = (
  { answers, seconds, failed, wrong }: Omit<AttackReport, "holes">,
  holes: number,
): string => {
  const found =
    holes === 0
      ? "no answer counts as a success without the reference"
      : `${holes} hole${holes === 1 ? "" : "s"}`;
  const sound = holes === 0 && failed === answers ? "nothing is known of the reward" : found;
  const best = wrong === null ? "" : `\nThe best-scored wrong answer ${scoredWrong(wrong)}`;
  return `${sound} in ${Math.round(seconds)} s and ${formatCount(answers)} answers${best}`;
};

/** "gets 0.26: "3 5 7=22:"". */
const scoredWrong = ({ response, reward }: NonNullable<AttackReport["wrong"]>): string =>
  `gets ${formatNumber(reward)}: ${response === "" ? "the empty answer" : JSON.stringify(oneLine(response, 80))}`;
