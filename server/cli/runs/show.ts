/** `gradus runs show`: everything known about a run. */
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { plural } from "../../../shared/lib/format.ts";
import { tasksQuery, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import {
  placeOf,
  progressRatio,
  stateWord,
  trainedText,
  trainerText,
  type RunOrigin,
} from "../../../shared/run/origin.ts";
import { taskTree } from "../../../shared/run/taskTree.ts";
import { print, printJson } from "../command.ts";
import { matrixText } from "../text/matrixText.ts";
import { messageBeside, verdictLines } from "../text/verdictText.ts";
import { everythingOf, runJson, type KnownRun } from "./everythingOf.ts";
import { ofRun, type Options } from "./ofRun.ts";

export function showCommand(program: Program): void {
  ofRun<{ tasks?: boolean }>(program, "show", "show everything known about a run", show).option(
    "--tasks",
    "show the tasks that it made, under their parents",
  );
}

async function show(
  connection: Requester,
  { id }: RunSummary,
  { json, tasks }: Options & { readonly tasks?: boolean },
): Promise<void> {
  if (tasks === true) return showTasks(connection, id, json);
  const known = await everythingOf(connection, id);
  if (json === true) return printJson(runJson(known));
  print([...describe(known), ...matrixText(known.ends)].join("\n"));
}

async function showTasks(connection: Requester, run: string, json: boolean | undefined): Promise<void> {
  const { tasks } = await ask(connection, tasksQuery, { run, limit: 100_000 });
  if (json === true) return printJson({ run, tasks });
  print(tasks.length === 0 ? "This run has made no tasks." : taskTree(tasks).join("\n"));
}

function describe({ run, verdict }: KnownRun): string[] {
  const metrics = (label: string, values: Readonly<Record<string, number>> | null): string[] =>
    values === null || Object.keys(values).length === 0
      ? []
      : [
          `${label.padEnd(12)}${Object.entries(values)
            .map(([name, value]) => `${name} ${value.toFixed(3)}`)
            .join("  ")}`,
        ];
  const last = run.checkpoints.at(-1);
  return [
    `${run.id}  ${stateWord(run)}  ${progressRatio(run)}${run.stage === null ? "" : `  ${run.stage}`}`,
    ...messageBeside(run.message, verdict),
    ...(verdict === null ? [] : verdictLines(verdict)),
    ...(run.damaged ?? []).filter((text) => text !== run.message).map((text) => `damaged     ${text}`),
    `config      ${run.file}`,
    ...(run.parent === undefined
      ? []
      : [`forked      from ${run.parent.run}, after step ${run.parent.step}`]),
    ...(run.label === undefined ? [] : [`differs in  ${run.label}`]),
    ...(run.tags === undefined ? [] : [`tags        ${run.tags.join(", ")}`]),
    ...(run.note === undefined ? [] : [`note        ${run.note}`]),
    ...(run.origin === undefined ? [] : [originLine(run.origin, isLive(run.status))]),
    `folder      ${run.folder}`,
    `started     ${run.startedAt}${run.endedAt === null ? "" : `, ended ${run.endedAt}`}`,
    ...(run.backend === null
      ? []
      : [`backend     ${run.backend}${run.backendReason === null ? "" : `: ${run.backendReason}`}`]),
    ...(run.git === null
      ? []
      : [`git         ${run.git.commit}${run.git.dirty ? " with uncommitted changes" : ""}`]),
    ...(run.attempts.length < 2
      ? []
      : [
          `attempts    ${run.attempts.map(({ attempt, resumedAt }) => (resumedAt === null ? String(attempt) : `${attempt} from step ${resumedAt}`)).join(", ")}`,
        ]),
    ...(last === undefined ? [] : [`checkpoint  ${last.path}`]),
    ...(run.best === undefined
      ? []
      : [`best        ${run.best.path}  ${run.best.metric} ${run.best.value.toFixed(3)}`]),
    ...metrics("now", run.headline),
    ...metrics("first", run.first),
    ...metrics("last", run.last),
  ];
}

const originLine = (origin: RunOrigin, live: boolean): string => {
  const trained = trainedText(origin.site);
  return trained === undefined
    ? `imported    ${originText(origin, live)}`
    : `trained     by ${trained}, in ${origin.site?.folder ?? origin.folder}`;
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
