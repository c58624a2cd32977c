/**
 * Checkpoints: one folder a step, `checkpoints/<step>/`, written next to its final place and renamed when every byte is
 * on the device, so that a folder of that name is always whole. It holds `state.json` (curriculum, task cursors, clock,
 * what the loop remembers), the arrays those name, and whatever the policy writes of its weights and optimiser.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { readBest, writeBest, type BestCheckpoint } from "../../../shared/run/bestCheckpoint.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { flushFolder } from "../../lib/durable/flush.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { Saved } from "../../core/basics.ts";
import { entrySchema, packed, packedBytes, unpacked } from "../../core/state/savedArrays.ts";
import { slots, type Identity } from "./identity.ts";
import { mustBeWhole, sealTree } from "./sums.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** What is saved of the run besides the policy. */
export interface RunState {
  /** Last step that the checkpoint covers. */
  readonly step: number;
  readonly loop: Json;
  /** By name: `curriculum/<hash>`, `replay/<hash>`, `reference`, … */
  readonly parts: Readonly<Record<string, Saved>>;
  /** Which part of the config each is of; undefined in checkpoints of versions that knew parts by their hashes alone. */
  readonly identities?: Readonly<Record<string, Identity>> | undefined;
}

/** Where in a checkpoint the policy lies: `gradus sample` takes this folder or the one above it. */
export const policyFolder = "policy";
const checkpointsFolder = (runFolder: string): string => join(runFolder, "checkpoints");
export const checkpointFolder = (runFolder: string, step: number): string =>
  join(checkpointsFolder(runFolder), String(step));

const identitySchema: z.ZodType<Identity> = z.object({
  slot: z.enum(slots),
  about: z.record(z.string(), z.json()),
  stages: z.array(z.string()),
  last: z.number().int(),
});
const partEntrySchema = entrySchema.extend({ part: z.string() });
const stateSchema = z.object({
  step: z.number().int(),
  loop: z.json(),
  parts: z.record(z.string(), z.json()),
  arrays: z.array(partEntrySchema),
  identities: z.record(z.string(), identitySchema).optional(),
});
type StateFile = z.output<typeof stateSchema>;

function writeState(folder: string, state: RunState): void {
  const packs = Object.entries(state.parts).map(([part, saved]) => ({ part, ...packed(saved.arrays ?? {}) }));
  const file = {
    step: state.step,
    loop: state.loop,
    parts: Object.fromEntries(Object.entries(state.parts).map(([part, saved]) => [part, saved.json])),
    arrays: packs.flatMap(({ part, arrays }) => arrays.map((entry) => ({ part, ...entry }))),
    identities: state.identities,
  };
  writeFileSync(join(folder, "state.json"), JSON.stringify(file));
  writeFileSync(join(folder, "state.bin"), Buffer.concat(packs.map(({ bytes }) => bytes)));
}

function stateFile(path: string): StateFile {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw damaged(path, messageOf(error), error);
  }
}

const damaged = (file: string, message: string, cause?: unknown): UserError =>
  new UserError(`${file} is missing or damaged: ${message}`, {
    file,
    code: "checkpoint-damaged",
    cause,
    action: "Use an earlier checkpoint of the run.",
  });

function arraysFile(path: string, wanted: number): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw damaged(path, messageOf(error), error);
  }
  if (bytes.length !== wanted) throw damaged(path, `it has ${bytes.length} bytes instead of ${wanted}`);
  return bytes;
}

/** Every file of the checkpoint is checked before any is used. @throws UserError naming the file that is missing or damaged */
export function readState(folder: string): RunState {
  mustBeWhole(folder);
  const file = stateFile(join(folder, "state.json"));
  const bytes = arraysFile(join(folder, "state.bin"), packedBytes(file.arrays));
  const numbered = file.arrays.map((entry, i) => ({ ...entry, name: String(i) }));
  const arrays = unpacked(numbered, bytes);
  const part = (name: string): Saved => ({
    json: file.parts[name] ?? null,
    arrays: Object.fromEntries(
      file.arrays.flatMap((entry, i) => (entry.part === name ? [[entry.name, arrays[i]!]] : [])),
    ),
  });
  return {
    step: file.step,
    loop: file.loop,
    parts: Object.fromEntries(Object.keys(file.parts).map((name) => [name, part(name)])),
    identities: file.identities,
  };
}

/** Steps of the whole checkpoints of a run, ascending. */
export function checkpointSteps(runFolder: string): number[] {
  const folder = checkpointsFolder(runFolder);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * Writes a checkpoint and throws away those that are older than the last `keep`, all but the best.
 * @param savePolicy writes weights, optimiser and snapshots into the folder it is given
 * @param best says that this one is the best so far
 * @returns its path and size in bytes
 */
export async function writeCheckpoint(
  runFolder: string,
  state: RunState,
  savePolicy: (folder: string) => Promise<void>,
  keep: number,
  best?: Omit<BestCheckpoint, "step">,
): Promise<{ path: string; bytes: number }> {
  const path = checkpointFolder(runFolder, state.step);
  const bytes = await writeWhole(path, state, savePolicy);
  if (best !== undefined) writeBest(runFolder, { step: state.step, ...best });
  prune(runFolder, keep);
  return { path, bytes };
}

/** Writes a folder that is there with every byte of it, or not at all. @returns its size in bytes */
export async function writeWhole(
  path: string,
  state: RunState,
  savePolicy: (folder: string) => Promise<void>,
): Promise<number> {
  const draft = `${path}.tmp-${process.pid}`;
  try {
    rmSync(draft, { recursive: true, force: true });
    // Never the run's own folder: where that was removed, nothing makes it anew.
    mkdirSync(dirname(draft), { recursive: existsSync(dirname(dirname(draft))) });
    mkdirSync(draft);
    await savePolicy(draft);
    writeState(draft, state);
    const bytes = sealTree(draft);
    rmSync(path, { recursive: true, force: true });
    putInPlace(draft, path);
    flushFolder(dirname(path));
    return bytes;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (error instanceof UserError) throw error;
    throw new UserError(`The checkpoint of step ${state.step} could not be written: ${messageOf(error)}.`, {
      file: path,
      code: "checkpoint-not-written",
      cause: error,
      action:
        "Free space on this disk or fix the folder's permissions, then resume the run: it continues from the last complete checkpoint.",
    });
  }
}

/** Keeps the newest `keep` checkpoints and the best, and clears what a killed writer left behind. */
function prune(runFolder: string, keep: number): void {
  const best = readBest(runFolder)?.step;
  for (const step of checkpointSteps(runFolder).slice(0, -Math.max(1, keep)))
    if (step !== best) discard(checkpointFolder(runFolder, step));
  for (const name of readdirSync(checkpointsFolder(runFolder))) {
    if (/^\d+\.tmp-\d+$/.test(name)) discard(join(checkpointsFolder(runFolder), name));
  }
}

/** What somebody reads Windows keeps (EPERM, ENOTEMPTY): that must not end the training, and it goes next time. */
function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (process.platform !== "win32") throw error;
  }
}
