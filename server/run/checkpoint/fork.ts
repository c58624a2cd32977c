/**
 * A new run that begins with a checkpoint of another: whether the config's parts take up all of its state, and what of
 * the other run's folder it needs. Nothing of the model is opened.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { readLoopState, type LoopState } from "../loop/loop.ts";
import { checkpointFolder, checkpointSteps, readState } from "./checkpoint.ts";
import { claims, unclaimedError } from "./claims.ts";
import { differences, identitiesOf } from "./identity.ts";
import { resum } from "./sums.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** The nearest checkpoint at or before a step; without one, the last. @throws UserError where there is none */
export function checkpointBefore(run: string, folder: string, step: number | undefined): number {
  const steps = checkpointSteps(folder);
  const found = step === undefined ? steps.at(-1) : steps.findLast((one) => one <= step);
  if (found !== undefined) return found;
  const [first] = steps;
  throw new UserError(
    first === undefined
      ? `Run ${run} has no checkpoint on disk.`
      : `Run ${run} has no checkpoint at or before step ${step}: those on disk are of ${listed(steps)}.`,
    {
      file: folder,
      code: "refused",
      action:
        first === undefined
          ? "Start a new run, and set how often it saves one: `checkpoint: { every, keep }`."
          : `Fork from step ${first} or later. checkpoint.keep says how many a run keeps.`,
    },
  );
}

const listed = (steps: readonly number[]): string =>
  `${steps.length === 1 ? "step" : "steps"} ${steps.slice(0, 6).join(", ")}${steps.length > 6 ? ", …" : ""}`;

interface Wish {
  readonly run: string;
  /** Of that run. */
  readonly folder: string;
  readonly step: number;
  /** What the new run trains by. */
  readonly config: RunConfig;
  /** The resolved config of the run that it is forked from. */
  readonly before: JsonObject;
  /** The last stage that the run has begun, and its first step; undefined: none. */
  readonly last: { readonly name: string; readonly step: number } | undefined;
  /** Whether state that no part of the config claims may start from zero. */
  readonly fresh: boolean;
}

/**
 * @returns where the new run is in its stages, where that is not as the checkpoint says
 * @throws UserError naming the key whose change the checkpoint's state cannot follow
 */
export function checkFork({ run, folder, step, config, before, last, fresh }: Wish): LoopState | undefined {
  const checkpoint = checkpointFolder(folder, step);
  const { parts, identities, loop } = readState(checkpoint);
  const recorded = readLoopState(loop);
  const again = reopened(recorded, config, last);
  const state = again ?? recorded;
  refuseOtherModels(run, config, before);
  refuseOtherStages(run, config, before, state);
  const { unclaimed } = claims(
    { parts, identities, stage: state.stage },
    {
      identities: identitiesOf(config),
      stateful: [],
      changes: () => differences(before, JSON.parse(JSON.stringify(config.tree)) as JsonObject),
    },
  );
  if (identities !== undefined && unclaimed.length > 0 && !fresh)
    throw forkRefused(
      unclaimedError(checkpoint, join(folder, "authored.gradus.yaml"), unclaimed),
      checkpoint,
    );
  return again;
}

/** A run that is through its stages goes on in the last one, where that has more steps now. */
function reopened(state: LoopState, { stages }: RunConfig, last: Wish["last"]): LoopState | undefined {
  if (stages.slice(state.stage).some(({ part }) => !part) || last === undefined) return undefined;
  const stage = stages.findLastIndex(({ part }) => !part);
  const stageStep = state.done - last.step;
  if (stages[stage]?.name !== last.name || stageStep < 1 || stages[stage].steps <= stageStep)
    return undefined;
  return { ...state, stage, stageStep, entered: true };
}

/** The same reason, and what a person who forks can do. */
const forkRefused = (error: UserError, checkpoint: string): UserError =>
  new UserError(error.message, {
    ...error.detail,
    action: `Leave that key as it is, let that state start from zero (--fresh), or take only the weights along: a new run with model.base: ${join(checkpoint, "policy")}.`,
  });

/** Weights of another shape, or of another model, cannot be read. */
function refuseOtherModels(run: string, config: RunConfig, before: JsonObject): void {
  const now = config.tree;
  const [change] = ["model", "models"].flatMap((key) => changed(before[key], now[key], key));
  if (change === undefined) return;
  throw new UserError(
    `${change.path} was ${JSON.stringify(change.before)} in ${run} and is ${JSON.stringify(change.now)}: the checkpoint holds the weights of the model as it was.`,
    {
      file: config.file,
      code: "refused",
      action: `Leave ${change.path} as it was, or start a new run: gradus run.`,
    },
  );
}

function changed(
  before: Json | undefined,
  now: Json | undefined,
  path: string,
): readonly { readonly path: string; readonly before: Json; readonly now: Json }[] {
  return differences(before ?? null, now ?? null).map((one) => ({
    ...one,
    path: one.path === "" ? path : `${path}.${one.path}`,
  }));
}

function refuseOtherStages(
  run: string,
  { stages, file }: RunConfig,
  before: JsonObject,
  state: LoopState,
): void {
  const stage = stages[state.stage];
  const former = stageBefore(before, state.stage);
  if (
    stage !== undefined &&
    former !== undefined &&
    (former.name !== stage.name || former.kind !== stage.kind)
  )
    throw new UserError(
      `The checkpoint is in stage ${former.name} of ${run}, but stage ${state.stage + 1} of the config is ${stage.name}${former.kind === stage.kind ? "" : ` (${stage.kind})`}.`,
      {
        file,
        code: "refused",
        action: `Keep the stages up to ${former.name} as they were; later ones may change.`,
      },
    );
  const left = stages
    .slice(state.stage)
    .some(({ steps, part }, at) => !part && steps > (at === 0 ? state.stageStep : 0));
  if (left) return;
  throw new UserError("The checkpoint is at the end of the config's stages: no step is left to train.", {
    file,
    code: "refused",
    action:
      stage === undefined
        ? "Give the last stage more `steps`, add a stage, or fork from an earlier step."
        : `Give stage ${stage.name} more \`steps\` (it has made ${state.stageStep}), or fork from an earlier step.`,
  });
}

function stageBefore(
  before: JsonObject,
  index: number,
): { readonly name: string; readonly kind: string } | undefined {
  const { stages } = before;
  const stage: unknown = Array.isArray(stages) ? stages[index] : undefined;
  if (typeof stage !== "object" || stage === null || !("name" in stage) || !("kind" in stage))
    return undefined;
  const { name, kind } = stage;
  return typeof name === "string" && typeof kind === "string" ? { name, kind } : undefined;
}

/** Files of a run that a checkpoint of it refers to. */
const besides = ["models", "evaluation.json"];

/**
 * Gives a new run's folder the checkpoint, by links where the disk has them: nothing in a checkpoint is ever rewritten.
 * @param loop where the new run is in its stages, in the place of what the checkpoint says
 */
export function takeCheckpoint(from: string, to: string, step: number, loop?: LoopState): void {
  linked(checkpointFolder(from, step), checkpointFolder(to, step));
  if (loop !== undefined) replaceLoop(join(checkpointFolder(to, step), "state.json"), loop);
  for (const name of besides) if (existsSync(join(from, name))) linked(join(from, name), join(to, name));
}

/** By rename: the file is also the other run's. */
function replaceLoop(path: string, loop: LoopState): void {
  const state = JSON.parse(readFileSync(path, "utf8")) as JsonObject;
  writeFileSync(`${path}.new`, JSON.stringify({ ...state, loop }));
  putInPlace(`${path}.new`, path);
  resum(dirname(path), basename(path));
}

function linked(from: string, to: string): void {
  try {
    const entries = readdirSync(from, { withFileTypes: true });
    mkdirSync(to, { recursive: true });
    for (const entry of entries) {
      const [own, other] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) linked(own, other);
      else if (entry.isFile()) linkFile(own, other);
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOTDIR")) throw error;
    cpSync(from, to);
  }
}

function linkFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to); // another disk, or one without links
  }
}
