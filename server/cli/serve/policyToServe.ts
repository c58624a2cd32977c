/** The policy that `gradus serve` answers with: a run's, which goes on changing, or a checkpoint's. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import { checkpointFolder, checkpointSteps, policyFolder } from "../../run/checkpoint/checkpoint.ts";
import { mustBeWhole } from "../../run/checkpoint/sums.ts";
import { openCheckpoint } from "../../run/checkpoint/checkpoints.ts";
import { readRunFile, storedConfig } from "../../run/loop/files.ts";
import { openRunPolicy } from "../../run/models/openPolicy.ts";
import { findCheckpoint, findRun } from "../runs/checkpointNames.ts";

/** Longest answer that the caches are planned for, in tokens; longer ones take the place of several. */
const PLANNED = 1024;

export interface ToServe {
  readonly policy: TrainablePolicy;
  /** What requests call it. */
  readonly name: string;
  /** The folder of the run whose weights it follows; undefined for a checkpoint, which stays as it is. */
  readonly run: string | undefined;
}
interface How {
  readonly store: string | undefined;
  readonly seed: number;
  readonly lanes: number;
}

/** @throws UserError where the words name neither a run nor a checkpoint */
export async function policyToServe(words: string, how: How): Promise<ToServe> {
  const run = findRun(words, how.store);
  if (run !== undefined) return ofRun(run);
  const folder = findCheckpoint(words, how.store);
  const policy = await openCheckpoint(folder, how.seed, { answers: how.lanes, max_tokens: PLANNED });
  const version = versionIn(folder);
  if (version !== policy.version) policy.adopt(policy.readTrained(), version);
  return { policy, name: nameOf(folder), run: undefined };
}

/** As its worker would open it, with the weights of its last checkpoint; before the first, those it began with. */
/** A run that trains removes its older checkpoints: one that goes while it is read is followed by a newer one. */
async function loadLast(policy: TrainablePolicy, folder: string): Promise<void> {
  for (;;) {
    const last = checkpointSteps(folder).at(-1);
    if (last === undefined) return;
    const path = checkpointFolder(folder, last);
    try {
      mustBeWhole(path);
      return await policy.load(join(path, policyFolder));
    } catch (error) {
      if (checkpointSteps(folder).includes(last)) throw error;
    }
  }
}

async function ofRun(folder: string): Promise<ToServe> {
  const run = readRunFile(folder);
  const { config } = storedConfig(folder, run);
  if (config === undefined)
    throw new UserError(`The run ${run.id} has no config that can be read, so its policy is not known.`, {
      file: folder,
      code: "invalid-config",
      action: "Serve one of its checkpoints: gradus serve RUN@last.",
    });
  const policy = await openRunPolicy(config);
  await loadLast(policy, folder);
  return { policy, name: run.name, run: folder };
}

const stateSchema = z.looseObject({ version: z.int().nonnegative() });
/** Of the weights in a checkpoint of ours; 0 of other models. */
function versionIn(folder: string): number {
  const path = join(folder, "state.json");
  if (!existsSync(path)) return 0;
  const { success, data } = stateSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  return success ? data.version : 0;
}
/** A run's checkpoint lies in `…/<step>/policy`: its folder's name says nothing. */
const nameOf = (folder: string): string =>
  basename(folder) === policyFolder ? basename(dirname(folder)) : basename(folder);
