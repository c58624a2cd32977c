/** Runs as a table: one line each where that fits, else what they came to on a second one. Pure. */
import { plural } from "../../../shared/lib/format.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { isTimed, placeOf, progressRatio, stateWord, trainedText } from "../../../shared/run/origin.ts";
import { colours } from "./colours.ts";
import { tableLines, type Column } from "./table.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { columnsOf, wrapped } from "./terminal.ts";
import { verdictLabel } from "./verdictText.ts";

const columns: readonly Column[] = [
  { head: "RUN" },
  { head: "STATUS" },
  { head: "STEPS", align: "right" },
  { head: "STARTED" },
  { head: "TOOK", align: "right" },
  { head: "PASS@1" },
];
const more: readonly Column[] = [{ head: "REWARD" }, { head: "VERDICT" }, { head: "DIFFERS IN" }];

/** What tells a run of a name from the others of it: the four digits at the end of its id. */
export const shortId = (id: string): string | undefined => /-([0-9a-f]{4})$/.exec(id)?.[1];

/** @param width columns of the terminal; undefined: a file or a pipe, where lines may be long */
export function runTable(runs: readonly RunSummary[], width: number | undefined, now: number): string[] {
  const wide = tableLines(
    [...columns, ...more],
    runs.map((run) => [run.id, ...facts(run, now), ...outcome(run)]),
  );
  if (width === undefined || wide.every((line) => columnsOf(line) <= width)) return headed(wide);
  const [head = "", ...lines] = tableLines(
    columns,
    runs.map((run) => [shortName(run), ...facts(run, now)]),
  );
  return headed([
    head,
    ...lines.flatMap((line, at) => {
      const said = outcome(runs[at]!)
        .filter((part) => part !== "")
        .join("  ");
      return said === "" ? [line] : [line, wrapped(`  ${said}`, width)];
    }),
  ]);
}

const headed = ([head = "", ...lines]: readonly string[]): string[] => [colours.dim(head), ...lines];

/** `sums 1f2e`: each of the two words, or the whole id, is a run's name for every command. */
function shortName({ id, name }: RunSummary): string {
  const short = shortId(id);
  if (short === undefined) return id;
  return `${name.length > 18 ? `${name.slice(0, 17)}…` : name} ${short}`;
}

function facts(run: RunSummary, now: number): string[] {
  const ended = run.endedAt === null ? now : Date.parse(run.endedAt);
  const took =
    isTimed(run) && (isLive(run.status) || run.endedAt !== null)
      ? shortDuration((ended - Date.parse(run.startedAt)) / 1000)
      : "";
  return [
    run.pinned === true ? `${stateWord(run)} *` : stateWord(run),
    progressRatio(run),
    moment(run.startedAt, now),
    took,
    passes(run),
  ];
}

function passes({ first, last, headline }: RunSummary): string {
  const now = last?.["eval/pass@1"] ?? headline["eval/pass@1"];
  const before = first?.["eval/pass@1"];
  const percent = (share: number): string => (share * 100).toFixed(1);
  if (now === undefined) return "";
  return before === undefined ? `${percent(now)} %` : `${percent(before)} → ${percent(now)} %`;
}

/** Course of the reward, verdict or warnings, and in what it differs from the first run of its config. */
function outcome(run: RunSummary): string[] {
  const reward = run.headline["reward/total"];
  const course =
    run.spark === undefined || run.spark.length < 2 ? "" : `${sparkline(run.spark, run.spark.length)} `;
  return [
    reward === undefined ? "" : `${course}${reward.toFixed(3)}`,
    verdictOf(run),
    [
      ...(run.parent === undefined
        ? []
        : [`fork of ${shortId(run.parent.run) ?? run.parent.run} at ${run.parent.step}`]),
      ...(run.origin?.site === undefined
        ? []
        : [
            trainedText(run.origin.site) ??
              `${isLive(run.status) ? "followed from" : "from"} ${placeOf(run.origin)}`,
          ]),
      ...(run.label === undefined ? [] : [run.label]),
      ...(run.tags ?? []).map((tag) => `#${tag}`),
      ...(run.archived === true ? ["archived"] : []),
    ].join(" · "),
  ];
}

const verdictOf = ({ verdict, warnings = [] }: RunSummary): string =>
  verdict !== undefined
    ? verdictLabel(verdict)
    : warnings.map(({ label }) => colours.yellow(`⚠ ${label}`)).join(", ");

/** Jan 02 10:05; with the year where it is another. */
function moment(iso: string, now: number): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  const month = date.toLocaleString("en-US", { month: "short" });
  const day = `${month} ${two(date.getDate())}`;
  return date.getFullYear() === new Date(now).getFullYear()
    ? `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
    : `${day} ${date.getFullYear()}`;
}

function shortDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "";
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3_600 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** What archived runs leave out of the list. */
export const hiddenText = (archived: number): string =>
  `${plural(archived, "archived run")} not shown: --all shows ${archived === 1 ? "it" : "them"} too.`;
