/** `gradus runs export --to tensorboard|trackio|wandb`: a run as a tracker would have written it. */
import { join, resolve } from "node:path";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { plural } from "../../../../shared/lib/format.ts";
import { runsShow, type RunSummary } from "../../../../shared/protocol/protocol.ts";
import { loggedRun, type LoggedRun } from "../../../store/exported/loggedRun.ts";
import { eventFileName, eventRecords } from "../../../store/exported/tensorboard.ts";
import { namerOf, theirName } from "../../../store/exported/theirNames.ts";
import { projectOf, writeProject } from "../../../store/exported/trackio.ts";
import { offlineNames, wandbLog } from "../../../store/exported/wandb.ts";
import { writeChunks } from "../../../store/exported/writeChunks.ts";
import { print, printJson } from "../../command.ts";
import { pathText } from "../../text/diagnostics.ts";
import { rollouts } from "./exportRun.ts";
import { notWritten, sizeOf, written } from "../written.ts";

export const trackerFormats = ["tensorboard", "trackio", "wandb"] as const;
type TrackerFormat = (typeof trackerFormats)[number];
export const isTrackerFormat = (text: string): text is TrackerFormat =>
  trackerFormats.some((format) => format === text);

interface TrackerExport {
  readonly to: TrackerFormat;
  /** The folder of the tracker's runs: the run gets a place of its own in it. */
  readonly out: string | undefined;
  readonly json?: boolean | undefined;
}

interface Exported {
  /** Absolute. */
  readonly place: string;
  readonly bytes: number;
  /** Where the tracker takes rollouts. */
  readonly rollouts?: number;
  /** The command that shows it. */
  readonly look: string;
}

interface Work {
  readonly connection: Requester;
  readonly run: LoggedRun;
  /** A metric's name in the tracker. */
  readonly named: (own: string) => string;
  /** Absolute. */
  readonly out: string;
}
type Write = (work: Work) => Exported | Promise<Exported>;

const writers: Readonly<Record<TrackerFormat, Write>> = {
  tensorboard: ({ run, named, out }) => {
    const place = join(out, run.start.run);
    const records = eventRecords(run, named);
    const bytes = written(place, (draft) => writeChunks(join(draft, eventFileName(run)), records));
    return { place, bytes, look: `tensorboard --logdir ${pathText(out)}` };
  },
  trackio: async ({ connection, run, named, out }) => {
    const { name, file } = projectOf(run, out);
    const count = await writeProject(file, run, named, rollouts(connection, run.start.run)).catch(
      (error: unknown) => {
        throw notWritten(file, error);
      },
    );
    const look = `TRACKIO_DIR=${pathText(out)} trackio show --project ${name}`;
    return { place: file, bytes: sizeOf(file), rollouts: count, look };
  },
  wandb: ({ run, named, out }) => {
    const { folder, file } = offlineNames(run);
    const place = join(out, folder);
    const bytes = written(place, (draft) => writeChunks(join(draft, file), wandbLog(run, named)));
    return { place, bytes, look: `wandb sync ${pathText(place)}` };
  },
};

/** @throws UserError where no folder is named, the run has logged nothing, or its place is taken */
export async function exportTracker(
  connection: Requester,
  { id }: RunSummary,
  { to, out, json }: TrackerExport,
): Promise<void> {
  if (out === undefined)
    throw new UserError(`--to ${to} needs --out: it is a folder.`, {
      code: "usage",
      action: "Add --out FOLDER: the run gets a place of its own in it.",
    });
  const { folder } = await ask(connection, runsShow, { run: id });
  const run = loggedRun(folder);
  if (run.steps.length === 0)
    throw new UserError(`The run ${id} has logged no metric yet.`, {
      code: "export-nothing",
      action: "Export it when it has made a step.",
    });
  const namer = namerOf(run.start.origin?.trainer);
  const named = (own: string): string => theirName(namer, own);
  const { look, place, ...wrote } = await writers[to]({ connection, run, named, out: resolve(out) });
  const metrics = new Set(run.steps.flatMap(({ values }) => Object.keys(values))).size;
  const steps = run.steps.length;
  if (json === true) return printJson({ run: id, to, out: place, steps, metrics, ...wrote });
  const traces = wrote.rollouts === undefined ? "" : `, ${plural(wrote.rollouts, "rollout")}`;
  print(`${pathText(place)}: ${plural(steps, "step")} of ${plural(metrics, "metric")}${traces}\n${look}`);
}
