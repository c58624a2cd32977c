/** What can be done with a run. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { Uri, env, window, type Disposable } from "vscode";
import { schemes, views } from "../../../shared/editor/contributions.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { metrics } from "../../../shared/metrics/metrics.ts";
import {
  configLens,
  runsControl,
  runsDelete,
  runsResume,
  runsStart,
} from "../../../shared/protocol/protocol.ts";
import { chartOf } from "../../../shared/editor/runPanel.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { isWatched } from "../../../shared/run/origin.ts";
import { Nothing, register } from "../../vscode/commands.ts";
import { withBar, type Stores } from "../connection/stores.ts";
import type { RunPanels } from "../panel/host.ts";
import { pythonPath } from "../language/python.ts";
import { openFolder } from "./openFolder.ts";
import { configUri } from "./runFiles.ts";
import { pickConfig, pickSavedConfig, pickRun, pickRuns, type RunState } from "./pick.ts";
import { steered, type Steering } from "./rows.ts";
import { pickSite } from "./sites.ts";

/**
 * Sees to what a run of a config needs, and asks where tests of its reward fail: whatever starts a run asks it first.
 * false: the person declined, or compute could not be set up.
 */
export type MayStart = (config: Uri) => Promise<boolean>;

interface RunCommandParts {
  readonly stores: Stores;
  readonly panels: RunPanels;
  readonly mayStart: MayStart;
  /** Rows of the runs view. */
  readonly selected: () => readonly unknown[];
}

export function registerRunCommands({
  stores,
  panels,
  mayStart,
  selected,
}: RunCommandParts): readonly Disposable[] {
  const control =
    (action: Steering, states: readonly RunState[], title: string, now = false) =>
    async (word: unknown, more: unknown) => {
      const runs = await pickRuns(stores, word, more, title, states);
      for (const { id } of steered(runs, action))
        await (await stores.session(stores.ofRun(id))).ask(runsControl, { run: id, action, now });
    };
  return [
    register("runStart", (word) => start(word, "Start Run")),
    register("runStartOn", (word, site) => startOn(word, site)),
    register("runStop", control("stop", ["starting", "running", "paused", "watching"], "Stop Run")),
    register(
      "runStopNow",
      control("stop", ["starting", "running", "paused", "stopping", "watching"], "Stop Run Now", true),
    ),
    register("runPause", control("pause", ["running"], "Pause Run")),
    register("runResume", (word) => resume(word)),
    register("runDelete", (word, more) => remove(word, more ?? selected())),
    register("runOpen", (word) => open(word)),
    register("runOpenChart", (file, metric) => openChart(file, metric)),
    register("runOpenLog", (word) => openLog(word)),
    register("runOpenConfig", (word) => openConfig(word)),
    register("runCopyId", (word) => copyId(word)),
    register("runRefresh", () => refresh()),
    register("runMore", (word) => more(word)),
    register("runImport", (word) => openFolder(stores, panels, word)),
  ];

  async function startOn(word: unknown, named: unknown): Promise<void> {
    const uri = await pickConfig(word, "Start Run on Site");
    if (uri === undefined) return;
    const site = typeof named === "string" ? named : await pickSite(uri);
    if (site !== undefined) await start(uri, "Start Run on Site", site);
  }

  async function start(word: unknown, title: string, site?: string): Promise<void> {
    const uri = await pickSavedConfig(word, title);
    if (uri === undefined || !(await mayStart(uri))) return;
    const store = stores.ofFile(uri);
    // One key for one press: asking again after a lost answer must not start a second run.
    const key = randomUUID();
    const { run } = await withBar(views.runs, async () =>
      (await stores.session(store)).ask(runsStart, {
        ...{ file: uri.fsPath, key, python: pythonPath() },
        ...(site === undefined ? {} : { site: { name: site } }),
      }),
    );
    panels.show(run, store?.runs.find(run)?.name ?? run);
  }

  /** A paused run continues; one that ended begins a new attempt at its last checkpoint. */
  async function resume(word: unknown): Promise<void> {
    const run = await pickRun(stores, word, "Resume Run", ["paused", "stopped", "failed", "interrupted"]);
    if (run === undefined) return;
    const session = await stores.session(stores.ofRun(run.id));
    if (run.status === "paused") await session.ask(runsControl, { run: run.id, action: "continue" });
    else await withBar(views.runs, () => session.ask(runsResume, { run: run.id }));
  }

  async function remove(word: unknown, more: unknown): Promise<void> {
    const ended = ["finished", "stopped", "failed", "interrupted"] as const;
    const runs = await pickRuns(stores, word, more, "Delete Run", ended);
    const [first] = runs;
    if (first === undefined) return;
    const live = runs.find(({ status }) => isLive(status));
    if (live !== undefined && isWatched(live))
      throw new UserError(`${live.name} is watched.`, {
        action: "End the watching with Gradus: Stop Run before you delete it.",
      });
    if (live !== undefined)
      throw new UserError(`${live.name} is ${live.status}.`, { action: "Stop it before you delete it." });
    const isOne = runs.length === 1;
    const which = isOne ? `run "${first.name}" (${first.id})` : `${runs.length} runs`;
    const listed = isOne ? "" : `${runs.map(({ name, id }) => `${name} (${id})`).join("\n")}\n\n`;
    const detail = `${listed}${isOne ? "Its" : "Their"} metrics, rollouts and checkpoints are removed from disk. This cannot be undone.`;
    const answer = await window.showWarningMessage(`Delete ${which}?`, { modal: true, detail }, "Delete");
    if (answer !== "Delete") return;
    for (const { id } of runs) await (await stores.session(stores.ofRun(id))).ask(runsDelete, { run: id });
  }

  async function open(word: unknown): Promise<void> {
    const run = await pickRun(stores, word, "Open Run");
    if (run !== undefined) panels.show(run.id, run.name);
  }

  /** From a config's line: the metric in the last run of that config. */
  async function openChart(file: unknown, metric: unknown): Promise<void> {
    const uri = await pickConfig(typeof file === "string" ? Uri.parse(file) : file, "Open Chart of Metric");
    const name = typeof metric === "string" ? metric : await pickMetric();
    if (uri === undefined || name === undefined) return;
    const store = stores.ofFile(uri);
    const session = await stores.session(store);
    const known = store?.runs.lastOf(uri.fsPath);
    const run = known ?? (await session.ask(configLens, { uri: uri.toString() })).lastRun;
    if (run === null)
      throw new Nothing("This config has not been run yet, so there is no chart.", "Run it first.");
    panels.show(run.id, run.name, chartOf(name));
  }

  async function openLog(word: unknown): Promise<void> {
    const run = await pickRun(stores, word, "Open Run Log");
    if (run === undefined) return;
    const uri = Uri.from({ scheme: schemes.log, path: `/${run.id}/${run.name}.log` });
    await window.showTextDocument(uri, { preview: true });
  }

  /** The file; where that is gone, what the run kept of it. */
  async function openConfig(word: unknown): Promise<void> {
    const run = await pickRun(stores, word, "Open Config of Run");
    if (run === undefined) return;
    const found = statSync(run.file, { throwIfNoEntry: false });
    if (found?.isDirectory() === true)
      throw new Nothing(
        `${run.name} was imported without a config.`,
        `Import it again with one: gradus runs import ${run.file} --config FILE.`,
      );
    await window.showTextDocument(found === undefined ? configUri(run.id, run.name) : Uri.file(run.file));
  }

  async function copyId(word: unknown): Promise<void> {
    const run = await pickRun(stores, word, "Copy Run ID");
    if (run !== undefined) await env.clipboard.writeText(run.id);
  }

  /** @param word a store's path; otherwise of all */
  async function more(word: unknown): Promise<void> {
    const asked = stores.all.filter(
      ({ path, feed }) => !feed.complete && (typeof word !== "string" || word === path),
    );
    if (asked.length === 0) throw new Nothing("All runs are shown.");
    await withBar(views.runs, async () => {
      for (const store of asked) await store.feed.more(await stores.session(store));
    });
  }

  async function refresh(): Promise<void> {
    await withBar(views.runs, async () => {
      for (const store of stores.all) {
        await store.feed.list(await stores.session(store));
      }
    });
  }
}

/** One of those that the panel draws. */
const pickMetric = (): Thenable<string | undefined> =>
  window.showQuickPick(
    metrics.map(({ name }) => name).filter((name) => chartOf(name) !== undefined),
    { title: "Open Chart of Metric" },
  );
