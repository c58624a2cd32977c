/**
 * A run as W&B writes one that is offline: `offline-run-TIME-ID/run-ID.wandb`, a log of LevelDB's form with records of Protocol
 * Buffers: header, run with its config, history, summary, exit.
 */
import type { Json } from "../../../shared/lib/json.ts";
import type { WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { putMessage, putText, putWhole } from "../../lib/growing/putProtobuf.ts";
import { recordFields as fields } from "../imported/feeds/wandb/wandbLog.ts";
import type { LoggedRun } from "./loggedRun.ts";
import { WandbFrame } from "./wandbFrame.ts";

/** The release whose records these are, and the oldest that reads them. */
const release = { producer: "0.31.0", reader: "0.70.0" } as const;

/** `wandb sync` takes the run's id from the names. */
export function offlineNames({ start }: LoggedRun): { readonly folder: string; readonly file: string } {
  const [date = "", time = ""] = start.started_at.slice(0, 19).replace(/[-:]/g, "").split("T");
  return { folder: `offline-run-${date}_${time}-${start.run}`, file: `run-${start.run}.wandb` };
}

/** The file's bytes, piece by piece. @param named a metric's name in the file */
export function* wandbLog(run: LoggedRun, named: (own: string) => string): Generator<Buffer> {
  const frame = new WandbFrame();
  yield frame.begin();
  let number = 0;
  for (const record of records(run, named))
    yield* frame.pieces(Buffer.concat([putWhole(1, ++number), record]));
}

function* records(run: LoggedRun, named: (own: string) => string): Generator<Buffer> {
  const { start, end, steps } = run;
  const began = Date.parse(start.started_at) / 1000;
  const info = putMessage(200, putText(1, start.run));
  yield putMessage(
    fields.header,
    putMessage(1, putText(1, release.producer), putText(2, release.reader)),
    info,
  );
  yield putMessage(fields.run, ...about(run), info);
  const last: Record<string, WireNumber> = {};
  for (const { step, time, values } of steps) {
    const data = Object.fromEntries(Object.entries(values).map(([name, value]) => [named(name), value]));
    const entry = { ...data, _step: step, _timestamp: time, _runtime: Math.max(0, time - began) };
    yield putMessage(fields.history, ...items(entry), putMessage(2, putWhole(1, step)), info);
    Object.assign(last, entry);
  }
  yield putMessage(fields.summary, ...items(last), info);
  if (end !== undefined)
    yield putMessage(
      fields.exit,
      putWhole(1, end.status === "failed" ? 1 : 0),
      putWhole(2, Math.round(end.seconds)),
      info,
    );
}

/** W&B refuses projects with such characters, and long ones. */
const projectOf = (name: string): string => name.replace(/[/\\#?%:\r\n]/g, "-").slice(0, 128);

/** The project is the config's name, so that its runs are charted together. */
function about({ start }: LoggedRun): Buffer[] {
  const milliseconds = Date.parse(start.started_at);
  const config = Object.entries(start.config).map(([key, value]) =>
    putMessage(1, putText(1, key), putText(16, JSON.stringify(value))),
  );
  return [
    putText(1, start.run),
    putText(3, projectOf(start.name)),
    putMessage(4, ...config),
    putText(8, start.run),
    putMessage(17, putWhole(1, Math.floor(milliseconds / 1000)), putWhole(2, (milliseconds % 1000) * 1e6)),
  ];
}

/** Of history and summary: a name and its value as JSON. A name is one key, whatever slashes it has. */
const items = (values: Readonly<Record<string, Json>>): Buffer[] =>
  Object.entries(values).map(([name, value]) =>
    putMessage(1, putText(2, name), putText(16, JSON.stringify(value))),
  );
