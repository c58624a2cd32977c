import { Option, type Command as Program } from "commander";
import {
  tasksQuery,
  runsControl,
  runsDelete,
  runsResume,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { plural } from "../../../shared/lib/format.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { reachingHere } from "../../sites/ssh.ts";
import {
  placeOf,
  stepsMade,
  stepsPlanned,
  trainedText,
  trainerText,
  type RunOrigin,
} from "../../../shared/run/origin.ts";
import { taskTree } from "../../../shared/run/taskTree.ts";
import { print, printJson, type Command } from "../command.ts";
import { checkpointWords } from "./checkpointNames.ts";
import { compareCommand } from "./comparing/compare.ts";
import { diffCommand } from "./diff/index.ts";
import { exportModel, isModelFormat, modelFormats } from "./exportModel.ts";
import { archiveEnding } from "../../store/archive/manifest.ts";
import { exportToFile } from "./archiveRun.ts";
import { exportRun, recordFormats, type ExportOptions } from "./exportRun.ts";
import { exportTracker, isTrackerFormat, trackerFormats } from "./exportTracker.ts";
import { followHere } from "./followHere.ts";
import { importCommand } from "./importRuns.ts";
import { forecastCommand } from "./comparing/forecast.ts";
import { sweepCommand } from "./comparing/sweep.ts";
import { turnoverCommand } from "./comparing/turnover.ts";
import { forkCommand } from "./fork.ts";
import { gcCommand } from "./gc.ts";
import { list, type ListOptions } from "./list.ts";
import { markCommand } from "./mark.ts";
import { whole } from "../options.ts";
import { matrixText } from "../text/matrixText.ts";
import { verdictLines } from "../text/verdictText.ts";
import { setValues } from "./setValue.ts";
import { everythingOf, runJson, type KnownRun } from "./everythingOf.ts";
import { findRun, withDaemon } from "./store.ts";

interface Options {
  readonly store?: string;
  readonly json?: boolean;
}
type Act<Own> = (connection: Requester, run: RunSummary, options: Options & Own) => Promise<void>;

export const command: Command = {
  name: "runs",
  configure: (program) => {
    common(
      program.command("list", { isDefault: true }).description("list the runs of this store, latest first"),
    )
      .option("--limit <n>", "how many", whole(1), 50)
      .option(
        "--where <expression>",
        "only runs that it holds for, e.g. 'reward/mean@last > 0.4 and config.rollout.group >= 8'; names: status, name, tag, verdict, age, config.KEY, metrics",
      )
      .option("--sort <name>", "by a name of these expressions; -NAME from the largest on")
      .option("--all", "archived runs too")
      .action((options: ListOptions) => list(options));
    compareCommand(program);
    diffCommand(program);
    forecastCommand(program);
    turnoverCommand(program);
    sweepCommand(program);
    forkCommand(program);
    gcCommand(program);
    markCommand(program);
    ofRun<{ tasks?: boolean }>(program, "show", "show everything known about a run", show).option(
      "--tasks",
      "show the tasks that it made, under their parents",
    );
    ofRun<{ history: boolean }>(
      program,
      "follow",
      "watch a run until it ends; Ctrl-C leaves it running",
      async (_connection, run, options) => {
        await followHere(run.id, { ...options, history: options.history });
      },
    ).option("--no-history", "show only new output");
    ofRun<{ now?: boolean }>(
      program,
      "stop",
      "stop a run and write a last checkpoint; a resumed run repeats a step whose rollouts are not all recorded",
      (connection, run, { now, json }) => control(connection, run, "stop", json, now),
    ).option("--now", "stop at once and drop the current step");
    ofRun(
      program,
      "pause",
      "pause a run between two tokens or before the next step; it keeps its state in memory",
      (connection, run, { json }) => control(connection, run, "pause", json),
    );
    ofRun(program, "continue", "continue a paused run", (connection, run, { json }) =>
      control(connection, run, "continue", json),
    );
    ofRun(program, "checkpoint", "write a checkpoint after the current step", (connection, run, { json }) =>
      control(connection, run, "checkpoint", json),
    );
    common(
      program
        .command("set")
        .description("change a value of a live run from its next step, e.g. update.optimizer.lr=1e-5")
        .argument("<run>", "its id, a prefix of the id, its name, or `last`")
        .argument("<path=value...>", "a key path, as for --set"),
    )
      .option(
        "--wait <seconds>",
        "how long to wait for the run's answer, which it gives at the end of its step",
        whole(0),
        120,
      )
      .action((words: string, assignments: string[], options: Options & { wait: number }) =>
        withDaemon(options.store, async (connection) =>
          setValues(connection, await findRun(connection, words), assignments, options),
        ),
      );
    ofRun(program, "resume", "resume a run from its last checkpoint, as a new attempt", resume);
    ofRun(program, "delete", "delete a run with its log and checkpoints", remove);
    common(
      program
        .command("export")
        .description(
          "export a run's records, its report, or a checkpoint as a model that other programs load",
        )
        .argument(
          "<run>",
          `a run by its id, a prefix of the id, its name, or \`last\`; for a model ${checkpointWords}`,
        ),
    )
      .addOption(
        new Option(
          "--to <form>",
          "jsonl: its rollouts; history: its groups, for curriculum --history; curriculum: one line that `sampler: again` follows; csv: its metrics; json: everything but rollouts; report: one Markdown page; html: one page with charts and the verdict; tensorboard, trackio, wandb: as that tracker would have written it, into its folder of runs; hf, gguf, peft: a model",
        )
          .choices([...recordFormats, ...trackerFormats, ...modelFormats])
          .default("jsonl"),
      )
      .addOption(new Option("--format <form>", "as --to").choices(["rollouts", "csv", "json"]).hideHelp())
      .option(
        "--out <path>",
        "file or folder to write instead of stdout; required for a tracker and for a model. Rows (jsonl, history, csv) become Parquet in a file that ends in .parquet; one that ends in .gradusrun has the whole run",
      )
      .option("--html", "as --to html")
      .option("--checkpoints", "of a .gradusrun: with its checkpoints")
      .addOption(new Option("--output <file>", "as --out").hideHelp())
      .action((words: string, options: Options & ExportOptions) => exportAs(words, options));
    importCommand(program);
  },
};

function exportAs(words: string, options: Options & ExportOptions): Promise<void> | void {
  const { to, out, output, store, json } = options;
  if (to !== undefined && isModelFormat(to))
    return exportModel(words, { to, out: out ?? output, store, json });
  const file = out ?? output;
  return withDaemon(store, async (connection) => {
    const run = await findRun(connection, words);
    if (file?.endsWith(archiveEnding) === true) await exportToFile(run, file, options);
    else if (to !== undefined && isTrackerFormat(to))
      await exportTracker(connection, run, { to, out: file, json });
    else await exportRun(connection, run, options);
  });
}

const common = (program: Program): Program =>
  program
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value");

function ofRun<Own = object>(program: Program, name: string, summary: string, act: Act<Own>): Program {
  return common(
    program
      .command(name)
      .description(summary)
      .argument("<run>", "its id, a prefix of the id, its name, or `last`"),
  ).action((words: string, options: Options & Own) =>
    withDaemon(options.store, async (connection) =>
      act(connection, await findRun(connection, words), options),
    ),
  );
}

const progress = (run: RunSummary): string => `${stepsMade(run)}/${stepsPlanned(run)}`;
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
    `${run.id}  ${run.status}  ${progress(run)}${run.stage === null ? "" : `  ${run.stage}`}`,
    ...(run.message === null ? [] : [run.message]),
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

/** "verl 0.9.1, from gsm/out: 204,800 rollouts in 200 steps, whose files stay there". */
/** Of a run that is followed, how many there are is known when it has ended. */
function originText(origin: RunOrigin, live: boolean): string {
  const { rollouts, steps, copied } = origin;
  const from = `${trainerText(origin)}, ${live ? "followed from" : "from"} ${placeOf(origin)}`;
  if (rollouts === 0) return from;
  return `${from}: ${plural(rollouts, "rollout")} in ${plural(steps, "step")}, whose files ${copied ? "were copied" : "stay there"}`;
}

async function control(
  connection: Requester,
  { id }: RunSummary,
  action: "stop" | "pause" | "continue" | "checkpoint",
  json: boolean | undefined,
  now = false,
): Promise<void> {
  const answer = await ask(connection, runsControl, { run: id, action, now });
  if (json === true) return printJson({ run: id, action, id: answer.id });
  print(
    action === "stop"
      ? `${id} is stopping${now ? " at once" : " after the current step"}.`
      : `${id} was asked to ${action}.`,
  );
}

async function resume(connection: Requester, { id }: RunSummary, { json }: Options): Promise<void> {
  const answer = await ask(connection, runsResume, { run: id, env: reachingHere() });
  if (json === true) return printJson(answer);
  print(`${id} continues as attempt ${answer.attempt}. Follow it: gradus runs follow ${id}`);
}

async function remove(connection: Requester, { id }: RunSummary, { json }: Options): Promise<void> {
  const answer = await ask(connection, runsDelete, { run: id });
  if (json === true) return printJson({ run: id, ...answer });
  print(`${id} is deleted.`);
}
