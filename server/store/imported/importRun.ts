/** Makes a run of what another trainer wrote: its folder appears in the store complete, or not at all. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { LogRecord } from "../../../shared/log/records.ts";
import { openAttempt, type LogWriter } from "../../../shared/log/writer.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { placeOf, writerNames, type DumpTrainer, type RunOrigin } from "../../../shared/run/origin.ts";
import { estimatesOf, estimatorOf } from "../../analysis/imported/estimates.ts";
import { readPlacedStep } from "../../analysis/imported/placedStep.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { mirrorPath, newRunId, runsFolder } from "../files.ts";
import { dataNotes, type DataNotes } from "./dataNotes.ts";
import { importedBefore } from "./importedBefore.ts";
import { findOutput, type TrainerOutput } from "./findOutput.ts";
import { HeldOutRecords } from "./heldOut.ts";
import type { ImportRequest, PulledMirror } from "./importRequest.ts";
import type { ImportSummary } from "./importSummary.ts";
import { placeFiles, type PlacedFiles, type PlacedSource } from "./placeFiles.ts";
import { othersOf, termsOf } from "./rewardTerms.ts";
import { rewardHashes } from "./rewardHashes.ts";
import { configFile, draftFolder, inRun, nameOf, writeRunFile } from "./runDraft.ts";
import { evaluatedSteps, noMetrics, readMetrics, type TrainerMetrics } from "./trainerMetrics.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** @throws UserError where there is nothing to import, or the store cannot be written */
export async function importRun(request: ImportRequest): Promise<ImportSummary> {
  const began = performance.now();
  const found = findOutput(resolve(request.folder));
  const id = newRunId(nameOf(request), new Date().toISOString(), found.trainer);
  const draft = draftFolder(request.store, id);
  try {
    const output = request.mirror === undefined ? found : takenIn(request.folder, request.mirror, draft);
    const metrics = output.metrics === undefined ? noMetrics : readMetrics(output.trainer, output.metrics);
    const written = await write(request, output, metrics, id, draft);
    putInPlace(draft, join(runsFolder(request.store), id));
    return { ...written, seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** The mirror as a part of the run. */
function takenIn(folder: string, { root }: PulledMirror, draft: string): TrainerOutput {
  putInPlace(root, mirrorPath(draft));
  return findOutput(join(mirrorPath(draft), relativePath(root, folder)));
}

async function write(
  request: ImportRequest,
  output: TrainerOutput,
  metrics: TrainerMetrics,
  id: string,
  draft: string,
): Promise<Omit<ImportSummary, "seconds">> {
  const { config, store, mirror } = request;
  const folder = join(runsFolder(store), id);
  const placed = await placeFiles({
    trainer: output.trainer,
    sources:
      request.copy && mirror === undefined
        ? await copies(output, draft, folder)
        : inPlace(output, mirror === undefined ? undefined : draft, folder),
    terms: termsOf(output, metrics, config?.loaded),
    group: output.trainer === "trl" ? config?.loaded.top.rollout.group : undefined,
    evaluated: evaluatedSteps(output, metrics),
    progress: request.progress,
  });
  const earlier = importedBefore(store, request);
  const seen = lookAt(draft, placed, config?.loaded);
  const origin: RunOrigin = {
    trainer: output.trainer,
    version: config?.version ?? null,
    folder: inRun(request.folder, mirror, folder),
    ...(mirror === undefined ? {} : { site: mirror.site }),
    rollouts: placed.rollouts,
    steps: placed.records.length,
    groups: seen.groups,
    advantages: seen.advantages,
    copied: request.copy || mirror !== undefined,
  };
  writeRunFile(request, id, draft, folder);
  const bundles = config === undefined ? {} : await rewardHashes(config.loaded);
  writeLog(request, output, metrics, placed, { origin, bundles }, id, draft);
  return {
    run: id,
    ...origin,
    metrics: metrics.steps.length,
    bytes: placed.bytes,
    halfWritten: placed.halfWritten,
    unscored: placed.unscored,
    earlier,
    others: config?.converted === true ? othersOf(output, metrics, config.loaded) : null,
    unestimated: seen.reason,
    share: output.trainer === "trl" ? shareOf(placed.records, metrics) : null,
    repeated: seen.repeated,
    evaluated: placed.records.filter(({ use }) => use !== undefined).map(({ step }) => step),
    data: seen.notes.data,
    needs: seen.notes.needs,
    missing: missingOf(output.trainer, metrics, seen, placed),
    notes: output.passedOver,
  };
}

interface Seen {
  readonly groups: RunOrigin["groups"];
  readonly advantages: string | null;
  /** Why the config gives no advantages, where it does not. */
  readonly reason: string | null;
  /** Whether the reward's parts are there. */
  readonly parts: boolean;
  /** Whether the step before has the same rollouts. */
  readonly repeated: boolean;
  readonly notes: DataNotes;
}

/** The newest step is parsed: what it has, all have. The draft lies as deep as the run will. */
function lookAt(draft: string, { records }: PlacedFiles, config: RunConfig | undefined): Seen {
  const trained = records.filter(({ use }) => use === undefined);
  const { rows, file, groups } = readPlacedStep(draft, trained[0] ?? records[0]!);
  const parts = rows.some(({ components }) => components !== undefined);
  const notes = dataNotes(rows, config);
  const none = { groups, advantages: null, reason: null, parts, repeated: false, notes };
  if (groups === "neighbours") {
    const before = trained[1] === undefined ? [] : readPlacedStep(draft, trained[1]).rows;
    return { ...none, parts: true, repeated: sameTexts(rows, before) };
  }
  if (config === undefined) return none;
  const estimates = estimatesOf(config, rows, file);
  return estimates.kind === "none"
    ? { ...none, reason: estimates.reason }
    : { ...none, advantages: estimatorOf(config) };
}

const sameTexts = (rows: readonly RolloutRow[], others: readonly RolloutRow[]): boolean =>
  rows.length === others.length &&
  rows.every(
    ({ prompt, response }, at) => prompt === others[at]!.prompt && response === others[at]!.response,
  );

/** A file is named after its step: the run has made as many, if not more. */
function shareOf(records: PlacedFiles["records"], { made = 0 }: TrainerMetrics): ImportSummary["share"] {
  return { kept: records.length, of: Math.max(made, ...records.map(({ step }) => step)) };
}

function missingOf(
  trainer: DumpTrainer,
  metrics: TrainerMetrics,
  seen: Seen,
  { records }: PlacedFiles,
): readonly string[] {
  const terms = records[0]?.terms ?? [];
  return [
    "log-probs",
    ...(metrics.heldOut ? [] : ["held-out"]),
    ...(metrics.steps.length > 0 ? [] : ["metrics"]),
    ...(seen.parts ? [] : ["reward components"]),
    ...(trainer === "trl" && !seen.notes.answers ? ["answers"] : []),
    ...(terms.length > 0 && terms.every(({ weight }) => weight === 0)
      ? ["the weights of rewards (name the run's config with --config)"]
      : []),
  ];
}

/** @param draft has the files, and becomes the run's folder; undefined: they lie elsewhere */
const inPlace = ({ files }: TrainerOutput, draft: string | undefined, folder: string): PlacedSource[] =>
  files.map(({ step, file }) => {
    if (draft === undefined) return { step, file, relative: relativePath(folder, file) };
    const name = relativePath(draft, file);
    return { step, file: join(folder, name), relative: name, now: file };
  });

/** Into the run's folder, under their own names. */
async function copies({ files }: TrainerOutput, draft: string, folder: string): Promise<PlacedSource[]> {
  const sources: PlacedSource[] = [];
  mkdirSync(join(draft, "rollouts"), { recursive: true });
  for (const { step, file } of files) {
    const name = `rollouts/${basename(file)}`;
    copyFileSync(file, join(draft, name));
    sources.push({ step, file: join(folder, name), relative: name, now: join(draft, name) });
    await setImmediate();
  }
  return sources;
}

function writeLog(
  request: ImportRequest,
  output: TrainerOutput,
  metrics: TrainerMetrics,
  placed: PlacedFiles,
  { origin, bundles }: { readonly origin: RunOrigin; readonly bundles: Readonly<Record<string, string>> },
  id: string,
  draft: string,
): void {
  const { config, store, version } = request;
  const log = openAttempt(draft, 0);
  const times = new Map(placed.records.map(({ step, mtime }) => [step, mtime / 1000]));
  const [first, last] = [Math.min(...times.values()), Math.max(...times.values())];
  const lastStep = Math.max(...times.keys(), ...metrics.steps.map(({ step }) => step));
  log.append({
    kind: "start",
    run: id,
    attempt: 0,
    resumed_at: null,
    name: nameOf(request),
    file: configFile(request, join(runsFolder(store), id)),
    authored: config?.text ?? "",
    config: config?.loaded.tree ?? {},
    seed: config?.loaded.seed ?? 0,
    steps: lastStep + 1,
    backend: {
      name: writerNames[output.trainer],
      reason: `imported from ${placeOf(origin)}`,
      device: "",
    },
    git: null,
    version,
    started_at: new Date(first * 1000).toISOString(),
    bundles,
    origin,
  });
  log.commit(-1);
  const begin = Math.min(...times.keys());
  commit(log, begin, { kind: "stage", step: begin, index: 0, name: "rl", stage_kind: "rl" });
  const heldOut = new HeldOutRecords();
  for (const { step, values } of metrics.steps) {
    const time = (times.get(step) ?? last) * 1000;
    commit(log, step, { kind: "metrics", step, time, values });
    for (const record of heldOut.of(step, time, values)) commit(log, step, record);
  }
  for (const record of placed.records) commit(log, record.step, record);
  commit(log, lastStep, {
    kind: "end",
    step: lastStep,
    status: "finished",
    message: "",
    seconds: last - first,
    ended_at: new Date(last * 1000).toISOString(),
  });
  log.close();
}

function commit(log: LogWriter, step: number, record: Exclude<LogRecord, { kind: "commit" }>): void {
  log.append(record);
  log.commit(step);
}
