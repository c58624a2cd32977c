/** `gradus runs import`: rollouts and metrics that verl or TRL wrote become a run of the store. */
import { trainers } from "../../../shared/run/trainers.ts";
import type { Command as Program } from "commander";
import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { needs } from "../../config/needs.ts";
import { runsImport, runsShow } from "../../../shared/protocol/protocol.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { writerNames, type Writer } from "../../../shared/run/origin.ts";
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { isSettled } from "../../../shared/protocol/runStatus.ts";
import {
  importConfig,
  nearConfig,
  type ConfigForImport,
} from "../../frameworks/use/asConfig/importConfig.ts";
import { smallText } from "../../frameworks/text/fileReader.ts";
import { parseConfig } from "../../frameworks/readers/index.ts";
import { makeStore } from "../../store/files.ts";
import { archiveEnding } from "../../store/archive/manifest.ts";
import { failureIn, failureText } from "../../store/imported/failureLog.ts";
import { findLog } from "../../store/imported/feeds/console/findLog.ts";
import { alreadyImported, sourceStateOf } from "../../store/imported/importedBefore.ts";
import { importFeed } from "../../store/imported/feeds/importFeed.ts";
import { findGrowing, findSource, type Source } from "../../store/imported/findSource.ts";
import type { ImportRequest } from "../../store/imported/importRequest.ts";
import { sitePlace } from "../../sites/siteOf.ts";
import { importRun } from "../../store/imported/importRun.ts";
import { summaryNotes, summaryText } from "../../store/imported/importSummary.ts";
import { complain, print, printJson } from "../command.ts";
import { loadOrComplain } from "../loadOrComplain.ts";
import { collect, pathText } from "../text/diagnostics.ts";
import { importFromFile } from "./exporting/archiveRun.ts";
import { followHere } from "./followHere.ts";
import { followedSite, pulledFolder, type PulledFolder } from "../sites/importSite.ts";
import { daemonState, storeOf, withDaemon } from "./store.ts";

declare const GRADUS_VERSION: string;

interface Options {
  /** false: `--no-config` */
  readonly config?: string | false;
  readonly name?: string;
  readonly copy?: boolean;
  readonly again?: boolean;
  readonly sourceRun?: string;
  readonly follow?: boolean;
  readonly set: string[];
  readonly store?: string;
  readonly json?: boolean;
}

export function importCommand(program: Program): void {
  program
    .command("import")
    .description(
      "import what a trainer or a tracker wrote, as a run: verl, TRL, `gradus hook`, prime-rl, tinker-cookbook, TensorBoard, trackio or W&B, or an evaluation of verifiers or Inspect; nothing is uploaded or moved",
    )
    .argument(
      "<folder>",
      "what was written: verl's rollouts and its file logger's metrics, TRL's output folder, or that of a tracker's run, Inspect's `.eval`; a log with verl's console lines or the dicts that TRL prints, or a `trainer_state.json`; HOST:FOLDER is one of another machine, by ssh; or a run that was exported as one file, FILE.gradusrun",
    )
    .option(
      "--config <file>",
      "the run's config: advantages are computed by it, and rewards get its terms' names; default: the trainer's script or file near the folder",
    )
    .option("--no-config", "use none, also where one lies near the folder")
    .option("--name <name>", "what the run is called; default: the name in its config, else the folder's")
    .option(
      "--follow",
      "take in what is written from now on, too, and watch the run; Ctrl-C leaves it following",
    )
    .option("--source-run <name>", "which run of a trackio project; default: the newest")
    .option(
      "--copy",
      "copy the files with rollouts into the run's folder; without it they stay where they are",
    )
    .option("--again", "import also what was imported before and has not changed since")
    .option("--set <path=value>", "override a value of the config; may be repeated", collect, [])
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action(run);
}

async function run(folder: string, options: Options): Promise<void> {
  if (folder.endsWith(archiveEnding)) {
    const imported = await importFromFile(folder, options);
    await taken(storeOf(options.store), imported);
    return sayNext(imported, options);
  }
  if (options.follow === true) return follow(folder, options);
  const place = sitePlace(folder);
  if (place === undefined) return importOnce(folder, options);
  const progress = new Progress();
  const { store, config: named, ...others } = options;
  const pulled = await pulledFolder(storeOf(store), place, named, (bytes) => progress.add(bytes));
  progress.clear();
  const { config } = pulled;
  try {
    await importOnce(
      pulled.folder,
      { ...others, ...(store === undefined ? {} : { store }), ...(config === undefined ? {} : { config }) },
      pulled,
    );
  } catch (error) {
    throw pulled.failure(error);
  } finally {
    pulled.discard();
  }
}

/** No training has failed there: a log next to it is of something else. */
const isEvaluation = (trainer: Writer): boolean => trainer === "inspect" || trainer === "verifiers";

/** @param pulled where the folder is that of another machine */
async function importOnce(folder: string, options: Options, pulled?: PulledFolder): Promise<void> {
  const store = storeOf(options.store);
  const source = sourceIn(folder);
  const shown = pulled?.shown ?? pathText;
  const inPlace = pulled?.shown ?? ((path: string) => path);
  // A mirror is a part of the run when that has been made.
  const failure = isEvaluation(source.trainer) ? undefined : failureIn(resolve(folder));
  const { config, note } = chosenConfig(folder, source.trainer, options, shown);
  if (typeof options.config === "string" && config === undefined) return;
  const progress = new Progress();
  const request: ImportRequest = {
    store,
    folder,
    mirror: pulled?.mirror,
    name: options.name,
    copy: options.copy === true,
    sourceRun: options.sourceRun,
    sourceState: pulled === undefined ? sourceStateOf(folder) : undefined,
    config,
    version: GRADUS_VERSION,
    progress: (bytes) => progress.add(bytes),
  };
  const present = options.again === true ? undefined : alreadyImported(request);
  if (present !== undefined) return sayPresent(present, options);
  const imported = source.kind === "dump" ? importRun(request) : importFeed(request, source.feed);
  const summary = await imported.finally(() => progress.clear());
  await taken(store, summary.run);
  const found = config !== undefined && options.config === undefined ? config.file : null;
  if (options.json === true)
    return printJson({
      ...summary,
      config: config === undefined ? null : inPlace(config.file),
      foundConfig: found !== null,
      failure: failure ?? null,
    });
  print(`${summary.run}\n${summaryText(summary)}`);
  if (found !== null) print(`by ${shown(found)}, found near the folder: --config names another`);
  for (const one of summaryNotes(summary, config === undefined ? "" : basename(config.file))) complain(one);
  if (note !== undefined) complain(note);
  if (failure !== undefined) complain(failureText(failure, shown));
  sayNext(summary.run, options);
}

/** The run is on stdout as after an import, so that a script may go on with it. */
function sayPresent(run: string, { json, store }: Options): void {
  if (json === true) return printJson({ run, present: true });
  print(run);
  complain(`already imported, and unchanged since: ${showWords(run, store)}; --again imports it again`);
}

const sayNext = (run: string, { json, store }: Options): void => {
  if (json !== true) complain(`next: ${showWords(run, store)}`);
};

const showWords = (run: string, store: string | undefined): string =>
  `gradus runs show ${run}${store === undefined ? "" : ` --store ${copiedWord(store)}`}`;

/** A training that failed before its first step has left nothing but a log. */
function sourceIn(folder: string): Source {
  try {
    return findSource(resolve(folder));
  } catch (error) {
    const failure = existsSync(folder) ? failureIn(resolve(folder)) : undefined;
    if (failure !== undefined) complain(failureText(failure, pathText));
    throw error;
  }
}

/** The run is live until whoever writes to the folder has ended. */
async function follow(folder: string, options: Options): Promise<void> {
  const { config, set, name, sourceRun, store, json } = options;
  const asked = {
    set,
    ...(config === undefined ? {} : { config: config === false ? null : localConfig(config) }),
    ...(name === undefined ? {} : { name }),
    ...(sourceRun === undefined ? {} : { sourceRun }),
  };
  const place = sitePlace(folder);
  if (place === undefined) await somethingIn(resolve(folder));
  // The first run of a folder may be one that is followed.
  makeStore(storeOf(store));
  const { run, note } =
    place === undefined
      ? await withDaemon(store, (connection) =>
          ask(connection, runsImport, { ...asked, folder: resolve(folder) }),
        )
      : await followedSite(store, place, asked);
  if (note !== null) complain(note);
  await followHere(run, {
    history: true,
    ...(store === undefined ? {} : { store }),
    ...(json === undefined ? {} : { json }),
  });
}

/** Whoever follows is another process, elsewhere; a file of a site is named as it is. */
const localConfig = (file: string): string => (sitePlace(file) === undefined ? resolve(file) : file);

/** What a folder is refused with that somebody is about to write to. */
const notYet = ["import-nothing", "import-missing"];

/** A training that has just begun has not written anything yet. */
async function somethingIn(folder: string): Promise<void> {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true && findLog(folder) !== undefined)
    throw new UserError("A log is imported as it is now, and not followed.", {
      file: folder,
      code: "import-log",
      action: "Import it without --follow, or follow the folder that the trainer writes to.",
    });
  for (let said = false; ; said = true) {
    try {
      findGrowing(folder);
      return;
    } catch (error) {
      if (!(error instanceof UserError) || !notYet.includes(error.detail.code ?? "")) throw error;
    }
    if (!said) complain(`waiting for the first step in ${pathText(folder)}`);
    await wait(500);
  }
}

/** The named config, else what lies near the folder: then `note` says why nothing of it is used. */
function chosenConfig(
  folder: string,
  trainer: Writer,
  { config: named, set }: Options,
  shown: (path: string) => string,
): ConfigForImport {
  if (named === false) return {};
  if (named === undefined) return nearConfig(folder, trainer, set, shown);
  refuseOther(named, shown(resolve(folder)), trainer);
  const loaded = loadOrComplain(named, { set, recorded: true, needs: needs.explained });
  return loaded === undefined ? {} : { config: importConfig(named, set, loaded) };
}

/** @throws UserError where the file is another trainer's than the rollouts */
function refuseOther(file: string, place: string, trainer: Writer): void {
  const path = resolve(file);
  const text = smallText(path);
  const written = text === undefined ? undefined : parseConfig(path, text);
  if (written === undefined || !["verl", "trl"].includes(trainer) || written.framework === trainer) return;
  const name = trainers[written.framework].name;
  throw new UserError(
    `this is a configuration of ${name}, and ${place} holds rollouts of ${writerNames[trainer]}`,
    {
      file: path,
      code: "import-other",
      action: `Name the file that ${writerNames[trainer]} was started with, or use none: --no-config.`,
    },
  );
}

/** A daemon that serves the store sees the folder appear: what is asked next finds the run. */
async function taken(store: string, run: string): Promise<void> {
  const daemon = await daemonState(store).catch(() => undefined);
  if (daemon?.state !== "serving") return;
  const connection = daemon.link.connection();
  try {
    for (const until = performance.now() + patience; performance.now() < until; await wait(look)) {
      const seen = await ask(connection, runsShow, { run }).catch(() => undefined);
      if (seen !== undefined && isSettled(seen.status)) return;
    }
  } finally {
    connection.dispose();
    daemon.link.close();
  }
}
const patience = 10_000;
const look = 50;

/** Megabytes on stderr, of imports that take a while. */
class Progress {
  private bytes = 0;
  private readonly began = performance.now();
  private shown = 0;

  add(bytes: number): void {
    this.bytes += bytes;
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.began < 1_000 || now - this.shown < 200) return;
    this.shown = now;
    process.stderr.write(`\r${Math.round(this.bytes / 1e6)} MB`);
  }

  clear(): void {
    if (this.shown > 0) process.stderr.write("\r\u001B[K");
  }
}
