/** What a worker process and the daemon agree on in `runs/<id>/`, besides the log. */

import type { ExternalEngine } from "./trainers.ts";
import type { Place } from "../daemon/place.ts";
import type { Json } from "../lib/json.ts";

/** `runs/<id>/run.json`, written once by the starter before the worker exists. */
export interface RunFile {
  readonly id: string;
  /** Absolute path of the config. */
  readonly file: string;
  /** The same from the run's folder on: found again where both are moved together. Absent in runs of earlier versions. */
  readonly relative?: string;
  readonly name: string;
  readonly set: readonly string[];
  readonly steps?: number;
  readonly seed?: number;
  /** The Python of whoever started it, for rewards that name none: the editor's, or the shell's. */
  readonly python?: string;
  /** The run that it was forked from, and the last step of the checkpoint that it begins with. */
  readonly parent?: { readonly run: string; readonly step: number };
  /** Of a fork: state in the checkpoint that no part of its config claims was to start from zero. */
  readonly fresh?: boolean;
  /** The folder of another trainer's that it was imported from. */
  readonly imported?: string;
  /** Where the folder that is imported lies, if not here. */
  readonly site?: SiteFolder;
  /** Of the runs that are there, which. */
  readonly sourceRun?: string;
  /** Names, sizes and times of what was imported, in one word: the same again is no second run. */
  readonly sourceState?: string;
  readonly createdAt: string;
}

/** A folder of a site. */
export interface SiteFolder {
  /** The site's name: a file of `sites/`, a host of ssh, or `here`. */
  readonly site: string;
  /** The folder there: absolute, or from the user's home. */
  readonly folder: string;
  /** Set where the run itself was started by Gradus: what trains there. Absent: somebody else's run is watched. */
  readonly engine?: ExternalEngine;
  /** Seconds that it was expected to take when it was started; absent: nothing was measured before. */
  readonly estimate?: { readonly low: number; readonly high: number };
}

/** `runs/<id>/worker.json`: who works on the run now. Liveness is pid + process start time, never a heartbeat; only of a worker in another
 * container or on another machine, which cannot be seen, signs of life are looked for (see lease.ts). */
export interface WorkerFile {
  readonly pid: number;
  /** As the operating system reports it (ticks since boot on Linux), to tell a reused pid. */
  readonly processStart: string;
  /** Machine, boot and PID namespace in which that pid counts. Absent in files of earlier versions. */
  readonly place?: Place | undefined;
  readonly attempt: number;
  readonly startedAt: string;
  readonly backend?: string;
  readonly version: string;
}

/** A line of `runs/<id>/control.jsonl`. The log acknowledges each id. */
export type ControlLine =
  /** `now`: at once, whatever the step in flight. `reason`: why somebody other than a person asks, kept as an event. */
  | {
      readonly id: string;
      readonly action: "stop";
      readonly now?: boolean | undefined;
      readonly reason?: string | undefined;
    }
  | { readonly id: string; readonly action: "pause" | "continue" | "checkpoint" }
  | { readonly id: string; readonly action: "set"; readonly path: string; readonly value: Json };

/** The event that says why a program stopped the run before its end. */
export const stoppedEarly = "stopped-early";

/** Environment and arguments by which the daemon starts `cli.ts` as a worker: `gradus worker <run folder> --attempt n`. */
export const workerCommand = "worker";
