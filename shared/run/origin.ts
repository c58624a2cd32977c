/** Where a run comes from that another trainer made. */
import { trainers, type TrainerThat } from "./trainers.ts";
import { isLive, type RunStatus } from "../protocol/runStatus.ts";
import type { SiteFolder } from "./run.ts";
import { formatCount } from "../lib/format.ts";

/** Trainers whose rollouts stay in their own files: the run's log says where. */
export type DumpTrainer = TrainerThat<"dumps">;

/** Whoever wrote a run that can be imported: a trainer, a tracker, a program that evaluates, or the file that `gradus hook` writes. */
export const writerNames = {
  verl: trainers.verl.name,
  trl: trainers.trl.name,
  hook: "gradus hook",
  [trainers["prime-rl"].recorded]: trainers["prime-rl"].name,
  tensorboard: "TensorBoard",
  trackio: "trackio",
  wandb: "W&B",
  verifiers: "verifiers",
  tinker: "tinker-cookbook",
  inspect: "Inspect",
} as const;
export type Writer = keyof typeof writerNames;
// `Object.keys` gives strings: the table has no other keys.
export const writers = Object.keys(writerNames) as Writer[];

/**
 * By what the rollouts of a group were found: verl's row key, equal prompts of a step, neighbours with equal prompts, as they
 * were recorded. none: there are no rollouts.
 */
export type GroupedBy = "uid" | "prompt" | "neighbours" | "recorded" | "none";

export interface RunOrigin {
  readonly trainer: Writer;
  /** null: nothing says which. */
  readonly version: string | null;
  /** The folder that was imported. */
  readonly folder: string;
  /** Where that lies, if `folder` is a copy of it. */
  readonly site?: SiteFolder;
  readonly rollouts: number;
  /** Steps that have rollouts. */
  readonly steps: number;
  readonly groups: GroupedBy;
  /** What computes advantages: a method of `advantage.baseline`, or null: they are as recorded, or absent. */
  readonly advantages: string | null;
  /** Whether the files with the rollouts are in the run's folder. */
  readonly copied: boolean;
}

/** "verl 0.9.1"; the trainer alone where its release is not known. */
export const trainerText = ({
  trainer,
  version,
  site,
}: Pick<RunOrigin, "trainer" | "version" | "site">): string =>
  site?.engine === undefined
    ? `${writerNames[trainer]}${version === null ? "" : ` ${version}`}`
    : trainers[site.engine].name;

/** A site that is named by its file is called as the file is. */
export const siteName = (site: string): string => site.replace(/^.*[/\\]/, "").replace(/\.ya?ml$/, "");

/** `box:runs/gsm/out`, as scp has it. */
export const sitePlaceText = ({ site, folder }: Pick<SiteFolder, "site" | "folder">): string =>
  `${siteName(site)}:${folder}`;

/** "TRL on box", of a run that Gradus has started there. */
export const trainedText = (site: SiteFolder | undefined): string | undefined =>
  site?.engine === undefined ? undefined : `${trainers[site.engine].name} on ${siteName(site.site)}`;

/** Where it was read, for a person. */
export const placeOf = ({ site, folder }: Pick<RunOrigin, "site" | "folder">): string =>
  site === undefined ? folder : sitePlaceText(site);

interface Steps {
  readonly step: number;
  readonly steps: number;
  readonly origin?: RunOrigin;
}

/** Steps made, as people count: Gradus numbers steps from 0, and other trainers from 1. */
export const stepsMade = ({ step, origin }: Steps): number => (origin === undefined ? step + 1 : step);

/** Steps planned, as people count; null: it is not known how many. */
export function stepsPlanned({ steps, origin }: Omit<Steps, "step">): number | null {
  const planned = origin === undefined ? steps : steps - 1;
  return planned > 0 ? planned : null;
}

/** "step 60 of 80"; "step 60" where nothing says how many there will be. */
export function progressText(run: Steps): string {
  const [made, planned] = [stepsMade(run), stepsPlanned(run)];
  return planned === null || planned < made
    ? `step ${formatCount(made)}`
    : `step ${formatCount(made)} of ${formatCount(planned)}`;
}

/** "60/80", for a column. */
export function progressRatio(run: Steps): string {
  const planned = stepsPlanned(run);
  return planned === null ? String(stepsMade(run)) : `${stepsMade(run)}/${planned}`;
}

/** Whether it says how long it took: a log without times begins and ends when its file was written. */
export const isTimed = ({
  origin,
  startedAt,
  endedAt,
}: {
  readonly origin?: RunOrigin;
  readonly startedAt: string;
  readonly endedAt: string | null;
}): boolean => origin === undefined || startedAt !== endedAt;

/** Whether another program trains and Gradus reads what it writes: it can be left alone, and neither paused nor stopped. */
export const isWatched = ({
  status,
  origin,
}: {
  readonly status: RunStatus;
  readonly origin?: RunOrigin;
}): boolean => isLive(status) && origin !== undefined && origin.site?.engine === undefined;

/** The state of a run in a word: of one that is watched, what happens here. */
export const stateWord = (run: Parameters<typeof isWatched>[0]): RunStatus | "watching" =>
  isWatched(run) && run.status !== "stopping" ? "watching" : run.status;
