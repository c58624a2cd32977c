/** `gradus runs import`: rollouts and metrics that verl or TRL wrote become a run of the store. */
import type { Command as Program } from "commander";
import { basename, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runsShow } from "../../../shared/protocol/protocol.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { trainerNames, type Trainer } from "../../../shared/run/origin.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { isSettled } from "../../../shared/protocol/runStatus.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { asConfig } from "../../frameworks/asConfig/convertFile.ts";
import { loadFile } from "../../frameworks/asConfig/load.ts";
import { frameworkNames } from "../../frameworks/names.ts";
import { configNear } from "../../frameworks/project/configNear.ts";
import { smallText } from "../../frameworks/readers/fileReader.ts";
import { parseConfig } from "../../frameworks/readers/index.ts";
import { versionOf } from "../../frameworks/version.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { importFeed } from "../../store/imported/feeds/importFeed.ts";
import { findSource } from "../../store/imported/findSource.ts";
import { importRun, type ImportRequest } from "../../store/imported/importRun.ts";
import { summaryNotes, summaryText } from "../../store/imported/importSummary.ts";
import { complain, print, printJson } from "../command.ts";
import { loadOrComplain } from "../loadOrComplain.ts";
import { collect, pathText } from "../text/diagnostics.ts";
import { daemonState, storeOf } from "./store.ts";

declare const GRADUS_VERSION: string;

interface Options {
  /** false: `--no-config` */
  readonly config?: string | false;
  readonly name?: string;
  readonly copy?: boolean;
  readonly sourceRun?: string;
  readonly set: string[];
  readonly store?: string;
  readonly json?: boolean;
}

export function importCommand(program: Program): void {
  program
    .command("import")
    .description(
      "import what a trainer or a tracker wrote, as a run: verl, TRL, `gradus hook`, prime-rl, TensorBoard, trackio or W&B; nothing is uploaded or moved",
    )
    .argument(
      "<folder>",
      "what was written: verl's rollouts and its file logger's metrics, TRL's output folder, or that of a tracker's run",
    )
    .option(
      "--config <file>",
      "the run's config: advantages are computed by it, and rewards get its terms' names; default: the trainer's script or file near the folder",
    )
    .option("--no-config", "use none, also where one lies near the folder")
    .option("--name <name>", "what the run is called; default: the name in its config, else the folder's")
    .option("--source-run <name>", "which run of a trackio project; default: the newest")
    .option(
      "--copy",
      "copy the files with rollouts into the run's folder; without it they stay where they are",
    )
    .option("--set <path=value>", "override a value of the config; may be repeated", collect, [])
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action(run);
}

async function run(folder: string, options: Options): Promise<void> {
  const store = storeOf(options.store);
  const source = findSource(resolve(folder));
  const { config, note } = chosenConfig(folder, source.trainer, options);
  if (typeof options.config === "string" && config === undefined) return;
  const progress = new Progress();
  const request: ImportRequest = {
    store,
    folder,
    name: options.name,
    copy: options.copy === true,
    sourceRun: options.sourceRun,
    config,
    version: GRADUS_VERSION,
    progress: (bytes) => progress.add(bytes),
  };
  const imported = source.kind === "dump" ? importRun(request) : importFeed(request, source.feed);
  const summary = await imported.finally(() => progress.clear());
  await taken(store, summary.run);
  const found = config !== undefined && options.config === undefined ? config.file : null;
  if (options.json === true)
    return printJson({ ...summary, config: config?.file ?? null, foundConfig: found !== null });
  print(`${summary.run}\n${summaryText(summary)}`);
  if (found !== null) print(`by ${pathText(found)}, found near the folder: --config names another`);
  for (const one of summaryNotes(summary, config === undefined ? "" : basename(config.file))) complain(one);
  if (note !== undefined) complain(note);
}

/** Whose files a run of each may come from. A tracker's own files say what they belong to. */
const writers: Readonly<Record<Trainer, Parameters<typeof configNear>[1]>> = {
  verl: ["verl"],
  trl: ["trl"],
  hook: ["trl", "verl", "openrlhf"],
  prime_rl: [],
  tensorboard: [],
  trackio: [],
  wandb: [],
};

/** The named config, else what lies near the folder: then `note` says why nothing of it is used. */
function chosenConfig(
  folder: string,
  trainer: Trainer,
  { config: named, set }: Options,
): { readonly config?: ImportRequest["config"]; readonly note?: string } {
  if (named === false) return {};
  if (named !== undefined) {
    refuseOther(named, folder, trainer);
    return { config: configOf(named, set) };
  }
  const near = configNear(folder, writers[trainer]);
  switch (near.kind) {
    case "none":
      return {};
    case "several":
      return {
        note: `several configs lie near the folder (${near.files.map(pathText).join(", ")}): ${name}`,
      };
    case "one": {
      const { config: loaded, diagnostics } = loadFile(
        near.file,
        { set, recorded: true },
        { absent: ["data", "model"] },
      );
      if (loaded !== undefined) return { config: requestOf(near.file, set, loaded) };
      const [first] = diagnostics.filter(({ severity }) => severity === "error");
      return {
        note: `${pathText(near.file)} lies near the folder and has errors (${first?.message ?? "it does not load"}): ${name}`,
      };
    }
  }
}
const name = "name the run's with --config";

/** @throws UserError where the file is another trainer's than the rollouts */
function refuseOther(file: string, folder: string, trainer: Trainer): void {
  const path = resolve(file);
  const text = smallText(path);
  const written = text === undefined ? undefined : parseConfig(path, text);
  if (written === undefined || !["verl", "trl"].includes(trainer) || written.framework === trainer) return;
  const name = frameworkNames[written.framework];
  throw new UserError(
    `this is a configuration of ${name}, and ${pathText(resolve(folder))} holds rollouts of ${trainerNames[trainer]}`,
    {
      file: path,
      code: "import-other",
      action: `Name the file that ${trainerNames[trainer]} was started with, or use none: --no-config.`,
    },
  );
}

/** undefined: it has errors, which are printed. */
function configOf(file: string, set: readonly string[]): ImportRequest["config"] {
  const loaded = loadOrComplain(file, set, true);
  return loaded === undefined ? undefined : requestOf(file, set, loaded);
}

function requestOf(file: string, set: readonly string[], loaded: RunConfig): ImportRequest["config"] {
  const path = resolve(file);
  const text = readText(path, limits.source);
  const converted = asConfig(path, text, set);
  return {
    file: path,
    text: converted?.config ?? text,
    set,
    loaded,
    version: converted === undefined ? null : releaseOf(path, text),
    converted: converted !== undefined,
  };
}

/** The trainer's, where the script or what is next to it says so. */
function releaseOf(file: string, text: string): string | null {
  const written = parseConfig(file, text);
  if (written === undefined) return null;
  const release = versionOf(written.framework, file, text);
  return release.from === "newest" ? null : release.text;
}

/** A daemon that serves the store sees the folder appear: what is asked next finds the run. */
async function taken(store: string, run: string): Promise<void> {
  const daemon = await daemonState(store).catch(() => undefined);
  if (daemon?.state !== "serving") return;
  const connection = daemon.link.connection();
  try {
    for (const until = Date.now() + patience; Date.now() < until; await wait(look)) {
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
  private readonly began = Date.now();
  private shown = 0;

  add(bytes: number): void {
    this.bytes += bytes;
    const now = Date.now();
    if (!process.stderr.isTTY || now - this.began < 1_000 || now - this.shown < 200) return;
    this.shown = now;
    process.stderr.write(`\r${Math.round(this.bytes / 1e6)} MB`);
  }

  clear(): void {
    if (this.shown > 0) process.stderr.write("\r\u001B[K");
  }
}
