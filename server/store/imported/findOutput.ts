/** What verl or TRL left in a folder: files with rollouts by step, and where their metrics are. */
import { closeSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { DumpTrainer } from "../../../shared/run/origin.ts";
import { parseJson } from "../../../shared/rollouts/rollouts.ts";
import { openRegular } from "../../lib/inputFile.ts";
import { passedOver, unfitness } from "./foreignFiles.ts";

export interface StepFile {
  readonly step: number;
  readonly file: string;
}
export interface TrainerOutput {
  readonly trainer: DumpTrainer;
  /** Of the rollouts. */
  readonly folder: string;
  /** By step, ascending. */
  readonly files: readonly StepFile[];
  /** They are answers to held-out tasks (verl's `validation_data_dir`). */
  readonly isHeldOut: boolean;
  /** verl's file logger, or TRL's `trainer_state.json`; undefined: there is none. */
  readonly metrics: string | undefined;
  /** Entries with the name of a rollout file that are none, in words. */
  readonly passedOver: readonly string[];
}

/** Folders below the one that is named. */
const depth = 3;
const patterns: Readonly<Record<DumpTrainer, RegExp>> = {
  verl: /^(\d+)\.jsonl$/,
  trl: /^completions_(\d+)\.parquet$/,
};

interface Listed {
  readonly folder: string;
  readonly names: readonly string[];
}

/** @throws UserError where there are no rollouts, or several sets of them */
export function findOutput(root: string): TrainerOutput {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isDirectory())
    throw new UserError("This file holds nothing that Gradus imports.", {
      file: root,
      code: "import-nothing",
      action:
        "Name the folder that a trainer wrote to, a log with verl's console lines or the dicts that TRL prints, a `trainer_state.json`, a trackio project (.db), a log of Inspect (.eval) or an exported run (.gradusrun).",
    });
  if (stats === undefined)
    throw new UserError("There is no such file or folder to import.", {
      file: root,
      code: "import-missing",
      action: "Name the folder that a trainer wrote to, or its log.",
    });
  const folders = [...listed(root, depth, root)];
  const candidates = (["verl", "trl"] as const).flatMap((trainer) =>
    folders
      .filter(({ names }) => names.some((name) => patterns[trainer].test(name)))
      .map((one) => ({ trainer, ...one })),
  );
  const chosen = onlyOne(root, candidates);
  const files = chosen.names
    .flatMap((name) => {
      const found = patterns[chosen.trainer].exec(name);
      return found === null ? [] : [{ step: Number(found[1]), file: join(chosen.folder, name) }];
    })
    .sort((one, other) => one.step - other.step);
  const metrics =
    chosen.trainer === "verl" ? verlMetrics(folders, root) : trainerState(folders, chosen.folder);
  return {
    trainer: chosen.trainer,
    folder: chosen.folder,
    files,
    isHeldOut: heldOut.test(basename(resolve(chosen.folder))),
    metrics,
    passedOver: passedOver(chosen.folder, (name) => patterns[chosen.trainer].test(name)),
  };
}

/**
 * The trainer whose dump a file or folder is, and the folder to import; undefined: it is none.
 * @param path as a person named it
 */
export function dumpOf(path: string): { readonly trainer: DumpTrainer; readonly folder: string } | undefined {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const named = isFolder ? path : dirname(path);
  if (!isFolder && trainerOf(path) === undefined) return undefined;
  try {
    const { trainer, folder } = findOutput(named);
    // The folder above has the metrics; a project's own folder may have much else.
    const above = dirname(named);
    const isOutput =
      /rollout|completions/i.test(basename(named)) && above !== "." && resolve(above) !== process.cwd();
    return resolve(folder) === resolve(named) && isOutput
      ? { trainer, folder: above }
      : { trainer, folder: named };
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** By the file's name, and what verl's first line has: rollouts of Gradus may be called by a number, too. */
function trainerOf(file: string): DumpTrainer | undefined {
  if (patterns.trl.test(basename(file))) return "trl";
  if (!patterns.verl.test(basename(file))) return undefined;
  const first = firstLine(file);
  return typeof first === "object" && first !== null && "output" in first && !("group" in first)
    ? "verl"
    : undefined;
}

function* listed(folder: string, levels: number, root: string): Generator<Listed> {
  const entries = readdirSync(folder, { withFileTypes: true });
  yield {
    folder,
    names: entries
      .filter((entry) => !entry.isDirectory() && unfitness(entry, root) === undefined)
      .map(({ name }) => name),
  };
  if (levels === 0) return;
  for (const entry of entries)
    if (entry.isDirectory() && !entry.name.startsWith("."))
      yield* listed(join(folder, entry.name), levels - 1, root);
}

type Candidate = Listed & { readonly trainer: DumpTrainer };

/** `validation_data_dir` has files of the same form: those are of no training step. */
const heldOut = /val|eval|test/i;

/** Of training, where there are any; else of validation. */
function onlyOne(root: string, candidates: readonly Candidate[]): Candidate {
  const trained = candidates.filter(({ folder }) => folder === root || !heldOut.test(basename(folder)));
  const training = trained.length > 0 ? trained : candidates;
  const rollouts = training.filter(({ folder }) => /rollout|completions/i.test(basename(folder)));
  const left = rollouts.length === 1 ? rollouts : training;
  const [only] = left;
  if (only !== undefined && left.length === 1) return only;
  if (left.length > 1)
    throw new UserError(
      `Several folders here hold rollouts: ${left
        .map(({ folder }) => folder)
        .slice(0, 5)
        .join(", ")}.`,
      { file: root, code: "import-several", action: "Name one of them: gradus runs import FOLDER." },
    );
  throw new UserError(
    "There is nothing to import in this folder: no rollouts of verl or TRL, no tracker's files, and no log with metrics.",
    {
      file: root,
      code: "import-nothing",
      action:
        "Name the folder that verl's `trainer.rollout_data_dir` names (1.jsonl, 2.jsonl, …), TRL's output folder after a run with `log_completions` (completions/completions_00001.parquet, …), or one of `gradus hook`, prime-rl's file monitor, TensorBoard, trackio or W&B; or the log that the training printed to.",
    },
  );
}

/** The file logger's: its first line has a step and data. The newest, where there are several. */
function verlMetrics(folders: readonly Listed[], root: string): string | undefined {
  const files = folders.flatMap(({ folder, names }) =>
    names
      .filter((name) => name.endsWith(".jsonl") && !patterns.verl.test(name))
      .map((name) => join(folder, name)),
  );
  // Next to the named folder, too: a person may have named the folder of the rollouts.
  const above = files.length > 0 ? [] : siblings(root);
  return [...files, ...above].filter(isMetrics).sort(newestFirst)[0];
}

function siblings(root: string): string[] {
  const parent = join(root, "..");
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map(({ name }) => join(parent, name));
}

/** The first line of such a file may be long, but not so long. */
const firstBytes = 256 * 1024;

function isMetrics(file: string): boolean {
  const value = firstLine(file);
  return typeof value === "object" && value !== null && "step" in value && "data" in value;
}

/** undefined: it is no JSON. */
function firstLine(file: string): unknown {
  const descriptor = openRegular(file);
  try {
    const bytes = Buffer.alloc(firstBytes);
    const [line] = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, firstBytes, 0)).split("\n");
    return parseJson(line ?? "");
  } catch {
    return undefined; // whatever it is, it is none of a trainer's
  } finally {
    closeSync(descriptor);
  }
}

/** The one that has got furthest: each checkpoint has its own. */
function trainerState(folders: readonly Listed[], completions: string): string | undefined {
  const within = folders.flatMap(({ folder, names }) =>
    names.includes("trainer_state.json") ? [join(folder, "trainer_state.json")] : [],
  );
  const above = join(completions, "..", "trainer_state.json");
  const all =
    within.length > 0 || statSync(above, { throwIfNoEntry: false }) === undefined ? within : [above];
  return all.sort(newestFirst)[0];
}

const newestFirst = (one: string, other: string): number => statSync(other).mtimeMs - statSync(one).mtimeMs;
