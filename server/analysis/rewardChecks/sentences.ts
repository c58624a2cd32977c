/** What the checks of a reward say, on the command line as in the editor. */
import { existsSync } from "node:fs";
import { formatCount, plural } from "../../../shared/lib/format.ts";
import { ownProcessAdvice } from "../../methods/reward/code/ownProcess.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import type { Hole } from "./attackTasks.ts";
import type { UnreadData } from "./checkedTasks.ts";
import type { FormatFinding } from "./format/checkFormat.ts";
import type { GoldFailure, GoldReport } from "./gold.ts";
import type { OwnProcessTasks } from "./ownProcess.ts";
import type { ProbeFinding } from "./probe.ts";
import { areOwn, type TasksToTry } from "./standInTasks.ts";

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

const shown = (value: number): string => String(Number(value.toPrecision(4)));

/** Rows of failures that a summary names. */
const most = 10;

const rowOf = ({ row, task }: GoldFailure): string => (row === undefined ? task : String(row));

/** "7,436 of 7,473 gold answers (after `####`) score 1; 37 do not (35 thousands commas): rows 12, 88, 301, …". */
export function goldText(report: GoldReport): string {
  const { form, checked, passed, without, value, failures, traits } = report;
  const score = value === null ? "succeed" : `score ${shown(value)}`;
  const how = passed === 0 ? bestText(report) : `written ${form}`;
  const head = `${formatCount(passed)} of ${formatCount(checked)} gold answers ${score} (${how})`;
  const none = without === 0 ? "" : ` · ${formatCount(without)} tasks have no reference answer`;
  if (failures.length === 0) return `${head}${none}`;
  const causes = traits.map(({ trait, count }) => `${formatCount(count)} with ${trait}`).join(", ");
  const more = failures.length > most ? ", …" : "";
  return `${head}; ${formatCount(failures.length)} do not${causes === "" ? "" : ` (${causes})`}: ${failures.some(({ row }) => row !== undefined) ? "rows " : ""}${failures.slice(0, most).map(rowOf).join(", ")}${more}${none}`;
}

/** "On average they earn 2.5: correct 2, format 0.5." Undefined where a term is alone. */
export function earnedText({ earned }: Pick<GoldReport, "earned">): string | undefined {
  const each = Object.entries(earned?.terms ?? {}).map(([name, value]) => `${name} ${shown(value)}`);
  return earned === null || each.length < 2
    ? undefined
    : `On average they earn ${shown(earned.reward)}: ${each.join(", ")}.`;
}

/** "no form succeeds; the best was in `<answer>`, with 0.8". */
export const bestText = ({ form, best }: Pick<GoldReport, "form" | "best">): string =>
  best === null
    ? "no form succeeds, and none earns anything"
    : `no form succeeds; the best was ${form}, with ${shown(best)}`;

/** "the format that your prompt shows earns 0 of 0.5: "." does not match a newline (re.DOTALL)". */
export const formatMessage = ({ earned, most, onlyLines, reason }: FormatFinding): string =>
  `the format that your prompt shows${onlyLines ? ", with two lines of work," : ""} earns ${shown(earned)} of ${shown(most)}: ${reason}`;

/** "`data/train.parquet` is not there", or why what is there cannot be read, with what to do. */
export function unreadText({ data, error }: UnreadData): string {
  const { file, action } = error.detail;
  if (file !== undefined && !existsSync(file)) return `\`${data}\` is not there`;
  return `\`${data}\`: ${error.message}${action === undefined ? "" : `. ${action.replace(/\.$/, "")}`}`;
}

/** Undefined where all data was read. */
export function goldLeft(tried: TasksToTry): string | undefined {
  const { unread } = tried;
  if (unread.length === 0) return undefined;
  const left = areOwn(tried) ? "checked without some of the data" : "not checked";
  return `Gold was ${left}: ${unread.map(unreadText).join(", ")}.`;
}

/** What other checks were tried on in the place of the data; undefined: it was there. */
export function standInText(tried: TasksToTry): string | undefined {
  const { tasks, unread, from, failed } = tried;
  switch (from.kind) {
    case "recorded":
      return `The reward was tried on ${plural(tasks.length, "task")} of recorded rollouts (${from.from}).`;
    case "made-up":
      return `The reward was tried on ${plural(tasks.length, "made-up task")}, such as ${JSON.stringify(tasks[0]?.task.prompt ?? "")}, whose answers it recognises.`;
    case "data":
      return areOwn(tried)
        ? undefined
        : `No other check was tried: there are no tasks without ${unread.map(({ data }) => `\`${data}\``).join(", ")}, and no recorded rollouts that the reward can score.${failed === undefined ? "" : ` On every made-up task ${failed}: that is the function, or a column that only the data has.`} Copy the data here, or name rollouts with \`--rollouts\`.`;
  }
}

/** Of one row, without its place. */
export function goldMessage({ answer, terms, errors }: GoldFailure): string {
  const values = Object.entries(terms).map(
    ([name, value]) => `${name} ${errors[name] ?? (value === null ? "does not apply" : shown(value))}`,
  );
  return `the reference answer ${JSON.stringify(cut(answer))} does not succeed: ${values.join(", ")}`;
}

/** @param of how many tasks there are */
export const ownProcessMessage = ({ tasks, first: { test } }: OwnProcessTasks, of: number): string =>
  `${formatCount(tasks)} of ${plural(of, "task")} ${tasks === 1 ? "has" : "have"} tests that run in the program's own process, which the program may fool. The first: ${test.replaceAll(/\s+/g, " ")}. ${ownProcessAdvice}`;

export const probeMessage = ({ term, message }: ProbeFinding): string => `\`${term}\`: ${capital(message)}`;

/** An answer on a line of its own; nothing of one that shows nothing. */
export const quoted = (response: string): string =>
  response.trim() === ""
    ? ""
    : `\n    ${JSON.stringify(response.length > 90 ? `${response.slice(0, 89)}…` : response)}`;

/** "an answer that knows nothing of the reference succeeds on 100 % of the tasks, reward 1: `#### ` + each number". */
export const holeMessage = ({ pieces, share, reward, examples: [example] }: Hole): string =>
  visibleText(
    `an answer that knows nothing of the reference ${example?.gold === undefined ? "succeeds" : "earns as much as it"} on ${Math.round(share * 100)} % of the tasks, reward ${shown(reward)}: ${pieces.join(" + ") || "the empty answer"}`,
  );
