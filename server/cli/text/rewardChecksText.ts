/** What `gradus reward --gold` and `--probe` say. */
import type { AttackReport, Hole } from "../../analysis/rewardChecks/attack.ts";
import type { GoldFailure, GoldReport } from "../../analysis/rewardChecks/gold.ts";
import type { ProbeFinding, ProbeReport } from "../../analysis/rewardChecks/probe.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { pathText } from "./diagnostics.ts";

const thousands = (count: number): string => count.toLocaleString("en-US");
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Rows of failures that a summary names. */
const most = 10;

const rowOf = ({ row, task }: GoldFailure): string => (row === undefined ? task : String(row));

/** "7,436 of 7,473 gold answers (after `####`) score 1; 37 do not (35 thousands commas): rows 12, 88, 301, …". */
export function goldText({ form, checked, passed, without, value, failures, traits }: GoldReport): string {
  const score = value === null ? "succeed" : `score ${Number(value.toPrecision(4))}`;
  const head = `${thousands(passed)} of ${thousands(checked)} gold answers ${score} (written ${form})`;
  const none = without === 0 ? "" : ` · ${thousands(without)} tasks have no reference answer`;
  if (failures.length === 0) return `${head}${none}`;
  const causes = traits.map(({ trait, count }) => `${thousands(count)} with ${trait}`).join(", ");
  const more = failures.length > most ? ", …" : "";
  return `${head}; ${thousands(failures.length)} do not${causes === "" ? "" : ` (${causes})`}: ${failures.some(({ row }) => row !== undefined) ? "rows " : ""}${failures.slice(0, most).map(rowOf).join(", ")}${more}${none}`;
}

/** A finding of the data's own line; without lines, the row is named. */
export function goldLine(failure: GoldFailure): string {
  const { file, line, row, answer, terms, errors } = failure;
  const place = file === undefined ? "" : `${pathText(file)}${line === undefined ? "" : `:${line + 1}:1`}: `;
  const which = line === undefined && row !== undefined ? `row ${row}: ` : "";
  const values = Object.entries(terms).map(
    ([name, value]) =>
      `${name} ${errors[name] ?? (value === null ? "does not apply" : Number(value.toPrecision(4)))}`,
  );
  return visibleText(
    `${place}warning: ${which}the reference answer ${JSON.stringify(cut(answer))} does not succeed: ${values.join(", ")} [gold-answer]`,
  );
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

/** @param termPlace `file:line:column` of a term in the config, for those that are no function of one's own */
export function probeLine(finding: ProbeFinding, termPlace: (term: string) => string): string {
  const { place, severity, message, probe, term, response } = finding;
  const where = place === undefined ? termPlace(term) : `${pathText(place.file)}:${place.line + 1}:1`;
  return visibleText(
    `${where}: ${severity}: \`${term}\`: ${capital(message)} [probe-${probe}]${quoted(response)}`,
  );
}

const quoted = (response: string): string =>
  response.trim() === ""
    ? ""
    : `\n    ${JSON.stringify(response.length > 90 ? `${response.slice(0, 89)}…` : response)}`;

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

/** "a success in 32 of 32 tasks without the answer: `#### ` each number". */
export const holeLine = ({ pieces, share, reward, examples: [example] }: Hole): string =>
  visibleText(
    `error: an answer that knows nothing of the reference ${example?.gold === undefined ? "succeeds" : "earns as much as it"} on ${Math.round(share * 100)} % of the tasks, reward ${Number(reward.toPrecision(4))}: ${pieces.join(" + ") || "the empty answer"} [attack]`,
  ) + quoted(example?.response ?? "");

export const attackText = ({ answers, seconds }: Omit<AttackReport, "holes">, holes: number): string =>
  `${holes === 0 ? "no hole" : `${holes} hole${holes === 1 ? "" : "s"}`} in ${Math.round(seconds)} s and ${thousands(answers)} answers`;
