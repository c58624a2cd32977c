/** Everything known about a run, as text. Pure. */
import { plural } from "../../../shared/lib/format.ts";
import type { RunDetail } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import {
  isTimed,
  placeOf,
  progressRatio,
  stateWord,
  trainedText,
  trainerText,
  type RunOrigin,
} from "../../../shared/run/origin.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import { messageBeside, verdictLines } from "./verdictText.ts";

interface Known {
  readonly run: RunDetail;
  readonly verdict: Verdict | null;
}

/** What is not known has no line. */
export function detailLines({ run, verdict }: Known): string[] {
  const { origin, stage } = run;
  // The stage and the backend of what another trainer ran are words of ours for it.
  const own = !isImported(run);
  return [
    `${run.id}  ${stateWord(run)}  ${progressRatio(run)} steps${own && stage !== null ? `  ${stage}` : ""}`,
    ...messageBeside(run.message, verdict),
    ...(verdict === null ? [] : verdictLines(verdict)),
    ...(run.damaged ?? []).filter((text) => text !== run.message).map((text) => line("damaged", text)),
    ...(run.file === origin?.folder ? [] : [line("config", run.file)]),
    ...(run.parent === undefined
      ? []
      : [line("forked", `from ${run.parent.run}, after step ${run.parent.step}`)]),
    ...(run.label === undefined ? [] : [line("differs in", run.label)]),
    ...(run.tags === undefined ? [] : [line("tags", run.tags.join(", "))]),
    ...(run.note === undefined ? [] : [line("note", run.note)]),
    ...(origin === undefined ? [] : [originLine(origin, isLive(run.status))]),
    line("folder", run.folder),
    ...timeLines(run),
    ...machineLines(run),
    ...checkpointLines(run),
    ...numberLines(run),
  ];
}

const isImported = ({ origin }: RunDetail): boolean =>
  origin !== undefined && trainedText(origin.site) === undefined;
const line = (label: string, text: string): string => `${label.padEnd(12)}${text}`;

function timeLines(run: RunDetail): string[] {
  const { startedAt, endedAt } = run;
  if (endedAt === null) return [line("started", startedAt)];
  return isTimed(run) ? [line("started", `${startedAt}, ended ${endedAt}`)] : [line("written", endedAt)];
}

function machineLines(run: RunDetail): string[] {
  const { backend, backendReason, git, attempts } = run;
  const resumed = attempts.map(({ attempt, resumedAt }) =>
    resumedAt === null ? String(attempt) : `${attempt} from step ${resumedAt}`,
  );
  return [
    ...(backend === null || isImported(run)
      ? []
      : [line("backend", `${backend}${backendReason === null ? "" : `: ${backendReason}`}`)]),
    ...(git === null ? [] : [line("git", `${git.commit}${git.dirty ? " with uncommitted changes" : ""}`)]),
    ...(resumed.length < 2 ? [] : [line("attempts", resumed.join(", "))]),
  ];
}

function checkpointLines({ checkpoints, best }: RunDetail): string[] {
  const last = checkpoints.at(-1);
  return [
    ...(last === undefined ? [] : [line("checkpoint", last.path)]),
    ...(best === undefined ? [] : [line("best", `${best.path}  ${best.metric} ${best.value.toFixed(3)}`)]),
  ];
}

type Numbers = Readonly<Record<string, number>>;

/** Of the last step, and of the held-out tasks: the first evaluation, then the last. */
function numberLines({ status, headline, first, last }: RunDetail): string[] {
  const now = Object.entries(headline).map(([name, value]) => `${name} ${value.toFixed(3)}`);
  const heldOut = [...new Set([first, last].flatMap((numbers) => Object.keys(numbers ?? {})))];
  const changes = heldOut.map((name) => `${name} ${changeText(name, first, last)}`);
  return [
    ...(now.length === 0 ? [] : [line(isLive(status) ? "now" : "last step", now.join("  "))]),
    ...(changes.length === 0 ? [] : [line("held-out", changes.join("  "))]),
  ];
}

const changeText = (name: string, first: Numbers | null, last: Numbers | null): string =>
  [first, last].flatMap((numbers) => numbers?.[name]?.toFixed(3) ?? []).join(" → ");

const originLine = (origin: RunOrigin, live: boolean): string => {
  const trained = trainedText(origin.site);
  return trained === undefined
    ? line("imported", originText(origin, live))
    : line("trained", `by ${trained}, in ${origin.site?.folder ?? origin.folder}`);
};

/**
 * "verl 0.9.1, from gsm/out: 204,800 rollouts in 200 steps, whose files stay there". Of a run that is followed, how many
 * there are is known when it has ended.
 */
function originText(origin: RunOrigin, live: boolean): string {
  const { rollouts, steps, copied } = origin;
  const from = `${trainerText(origin)}, ${live ? "followed from" : "from"} ${placeOf(origin)}`;
  if (rollouts === 0) return from;
  return `${from}: ${plural(rollouts, "rollout")} in ${plural(steps, "step")}, whose files ${copied ? "were copied" : "stay there"}`;
}
