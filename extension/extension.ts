/** The extension's composition root: builds the features, and owns nothing but their lifetimes. */
import {
  Uri,
  commands as editor,
  languages,
  window,
  workspace,
  type ExtensionContext,
  type TreeView,
} from "vscode";
import { language, schemes, settings, views } from "../shared/editor/contributions.ts";
import { PinRollout } from "./features/rewardTests/pin.ts";
import { RewardTests } from "./features/rewardTests/rewardTests.ts";
import { RewardCoverages } from "./features/rewardCoverage/rewardCoverages.ts";
import { ComparePanels } from "./features/compare/host.ts";
import { CurriculumTests } from "./features/curriculumTests/curriculumTests.ts";
import { ConfigLenses } from "./features/configs/lenses.ts";
import { registerConfigCommands } from "./features/configs/commands.ts";
import { JudgePanels } from "./features/judge/host.ts";
import { registerResearch } from "./features/language/research.ts";
import { findConfigs } from "./features/configs/find.ts";
import { ConfigsTree } from "./features/configs/tree.ts";
import { asNode, findNode, languageNode, requireNode, type Places } from "./features/connection/node.ts";
import { Stores, runsBeat } from "./features/connection/stores.ts";
import { watchForClash } from "./features/language/clash.ts";
import { isWatched } from "../shared/run/origin.ts";
import { RunPanels } from "./features/panel/host.ts";
import { registerPaperCommand } from "./features/papers/commands.ts";
import { RewardAttack } from "./features/rescore/attack.ts";
import { RescoreDocuments } from "./features/rescore/documents.ts";
import { ConfigsNaming } from "./features/rescore/naming.ts";
import { RewardChecks } from "./features/rescore/rewardChecks.ts";
import { goldHints } from "./features/rescore/goldHints.ts";
import { RewardHints } from "./features/rescore/rewardHints.ts";
import { RolloutLists } from "./features/rollouts/find/provider.ts";
import { TokenHeat } from "./features/rollouts/heat/heat.ts";
import { rolloutHovers } from "./features/rollouts/one/hovers.ts";
import { RolloutDocuments } from "./features/rollouts/one/provider.ts";
import { Rollouts } from "./features/rollouts/provider.ts";
import { registerCheckpointCommands } from "./features/runs/checkpoints.ts";
import { WhyHovers } from "./features/rollouts/whyHover.ts";
import { registerRunCommands } from "./features/runs/commands.ts";
import { RunFilter } from "./features/runs/filter.ts";
import { Forks } from "./features/runs/fork.ts";
import { registerMarkCommands } from "./features/runs/marks.ts";
import { announceRuns } from "./features/runs/notices.ts";
import { RunFiles } from "./features/runs/runFiles.ts";
import { registerSeedsCommand } from "./features/runs/seeds.ts";
import { registerSweepCommands } from "./features/runs/sweep.ts";
import { readingText } from "./features/runs/treeModel.ts";
import { RunLog } from "./features/runs/log.ts";
import { RunsTree } from "./features/runs/tree.ts";
import { SetUp } from "./features/setUp/setUp.ts";
import { registerDaemonCommands } from "./features/status/daemonCommands.ts";
import { CardBadge } from "./features/trainers/badge.ts";
import { Cards } from "./features/trainers/cards.ts";
import { registerCheckReward } from "./features/trainers/checkReward.ts";
import { registerTrainerCommands } from "./features/trainers/commands.ts";
import { Status } from "./features/status/statusBar.ts";
import type { CommandLine } from "./vscode/commandLine.ts";
import { register, show } from "./vscode/commands.ts";
import { coalesce } from "./vscode/coalesce.ts";
import { setContext } from "./vscode/context.ts";
import { output } from "./vscode/output.ts";
import { setting } from "./vscode/settings.ts";

declare const GRADUS_VERSION: string;

/** What tests in a real editor look at. */
export interface Api {
  readonly stores: Stores;
  /** What the views show. */
  readonly runs: RunsTree;
  readonly configs: ConfigsTree;
  /** What is said of other trainers' launches. */
  readonly cards: Cards;
}

export async function activate(context: ExtensionContext): Promise<Api> {
  try {
    return build(context);
  } catch (error) {
    // The editor itself says nothing when an extension fails to start.
    await show(error, "activation");
    throw error;
  }
}

function build(context: ExtensionContext): Api {
  const places: Places = {
    home: context.extensionPath,
    version: GRADUS_VERSION,
    environment: process.env,
    editor: process.execPath,
  };
  const stores = new Stores(places, () => findConfigs(undefined, (message) => output().debug(message)));
  const setUp = new SetUp(places, () => stores.renew());
  const panels = new RunPanels(context.extensionUri, stores);
  const cli = Uri.joinPath(context.extensionUri, "dist", "cli.mjs").fsPath;
  /** Commands that end, and need no daemon. */
  const commandLine = (): CommandLine => {
    const node = languageNode(places, setting("nodePath", ""));
    return { node: node.path, cli, needs: asNode(node) };
  };
  const cards = new Cards(stores, commandLine);
  const status = new Status(
    stores,
    (run) => panels.sees(run),
    () => cards.all,
  );
  panels.looked.on(() => status.update());
  const naming = new ConfigsNaming();
  const tests = new RewardTests(stores, naming);
  const mayStart = async (config: Uri): Promise<boolean> => (await setUp.ensure()) && tests.mayStart(config);
  const forks = new Forks(stores, panels, mayStart);
  const filter = new RunFilter(stores, context.workspaceState);
  const lenses = new ConfigLenses(stores, forks);
  forks.changed.on(() => lenses.refresh());
  const log = new RunLog(stores);
  const hovers = new WhyHovers(stores);
  const rollouts = new Rollouts(stores, hovers);
  const lists: RolloutLists = new RolloutLists(stores, hovers, () => documents);
  const documents: RolloutDocuments = new RolloutDocuments(stores, () => rollouts.current ?? lists.current);
  const heat = new TokenHeat(stores, documents);
  const ownTerminal = (): CommandLine => {
    const node = requireNode(findNode(places, setting("nodePath", "")));
    return { node: node.path, cli, needs: {} };
  };
  const rewardChecks = new RewardChecks(stores, naming);
  context.subscriptions.push(
    output(),
    stores,
    panels,
    status,
    forks,
    rollouts,
    lists,
    documents,
    heat,
    rolloutHovers(documents, heat, hovers),
    new RescoreDocuments(stores, naming),
    new RewardHints(stores, naming),
    goldHints(stores, naming),
    rewardChecks,
    registerCheckReward(commandLine, naming, rewardChecks),
    cards,
    tests,
    new CurriculumTests(stores),
    new PinRollout(stores, documents, tests),
    new RewardAttack(stores, naming),
    new RewardCoverages(stores, naming),
    new JudgePanels(context.extensionUri, stores, () => panels.column()),
    languages.registerCodeLensProvider({ language: language.id }, lenses),
    workspace.registerTextDocumentContentProvider(schemes.log, log),
    workspace.registerTextDocumentContentProvider(schemes.runFiles, new RunFiles(stores)),
    watchForClash(context.globalState),
    setUp.register(),
    ...registerCheckpointCommands(stores, ownTerminal),
    registerSeedsCommand(stores, mayStart),
    ...registerSweepCommands(stores, mayStart, ownTerminal),
    register("runFilter", () => filter.ask()),
    register("runClearFilter", () => filter.clear()),
    register("runSort", () => filter.pickSort()),
    ...registerConfigCommands(commandLine),
    registerPaperCommand(commandLine),
    registerResearch(),
    ...registerTrainerCommands(commandLine),
    ...registerDaemonCommands(stores),
    register("walkthroughOpen", () =>
      editor.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#firstRun`, false),
    ),
  );
  const runs = new RunsTree(stores, filter, cards);
  const configs = new ConfigsTree(stores);
  const runsView = showViews(context, stores, { runs, configs, cards, setUp, lenses, status, log, filter });
  context.subscriptions.push(
    ...registerRunCommands({ stores, panels, mayStart, selected: () => runsView.selection }),
    ...registerMarkCommands(stores, () => runsView.selection),
    new ComparePanels(context.extensionUri, stores, () => runsView.selection),
  );
  announceRuns(stores, panels);
  stores.start();
  cards.start();
  return { stores, runs, configs, cards };
}

/** What the views show, and what shows the same. */
interface Shown {
  readonly runs: RunsTree;
  readonly configs: ConfigsTree;
  readonly cards: Cards;
  readonly setUp: SetUp;
  readonly lenses: ConfigLenses;
  readonly status: Status;
  readonly log: RunLog;
  readonly filter: RunFilter;
}

function showViews(
  context: ExtensionContext,
  stores: Stores,
  { runs, configs, cards, setUp, lenses, status, log, filter }: Shown,
): TreeView<unknown> {
  const runsView = window.createTreeView<unknown>(views.runs, {
    treeDataProvider: runs,
    showCollapseAll: true,
    canSelectMany: true,
  });
  const watcher = workspace.createFileSystemWatcher(language.pattern, false, true, false);
  context.subscriptions.push(
    runsView,
    window.createTreeView(views.configs, { treeDataProvider: configs }),
    watcher,
    watcher.onDidCreate(() => {
      configs.search();
      void cards.look();
      void stores.wake();
    }),
    watcher.onDidDelete(() => configs.search()),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(settings.codeLensEnabled)) lenses.refresh();
    }),
  );
  filter.changed.on(() => runs.refresh());
  runs.listed.on(() => {
    if (!building) say(messageFor(stores, filterText(runs)));
  });
  let building = false;
  const badge = new CardBadge(() => cards.all, context.workspaceState);
  const showBadge = (): void => {
    const live = stores.live.filter((run) => !isWatched(run)).length;
    runsView.badge = live === 0 ? badge.of(runsView) : { value: live, tooltip: `${live} live` };
  };
  context.subscriptions.push(runsView.onDidChangeVisibility(showBadge));
  cards.changed.on(() => {
    runs.refresh();
    status.update();
    showBadge();
  });
  const filterText = ({ counts }: RunsTree): string => filter.message(counts.shown, counts.all);
  const say = (message: string): void => void (runsView.message = message);
  const followed = new WeakSet();
  const standings = new WeakMap<object, string>();
  // Warm-up steps come ten a second; a side bar that redraws as often cannot be read or clicked.
  const redraw = coalesce<ReadonlySet<string> | undefined>(500, (sets) => {
    const all = sets.includes(undefined) ? undefined : new Set(sets.flatMap((set) => [...(set ?? [])]));
    runs.refreshRuns(all);
    if (all !== undefined) log.refresh(all);
    configs.refresh();
  });
  // The editor asks for lenses only once they have been still for a moment: if notified more often than the runs' beat, it never does.
  const redrawLenses = coalesce<unknown>(runsBeat, () => lenses.refresh());
  const update = async (): Promise<void> => {
    for (const store of stores.all) {
      if (followed.has(store)) continue;
      followed.add(store);
      store.runs.changed.on(({ runs: changed }) => {
        redraw(changed);
        redrawLenses(changed);
        // Whether a config can be started or stopped must not wait.
        const standing = store.runs.all.map((run) => `${run.id} ${run.status}`).join();
        if (standings.get(store) !== standing) lenses.refresh();
        standings.set(store, standing);
      });
      store.machine.changed.on(() => runs.refresh());
    }
    status.update();
    showBadge();
    if (!building) say(messageFor(stores, filterText(runs)));
    await setContext("daemonState", shownState(stores, setUp));
    await setContext("hasRuns", stores.runs.length > 0);
  };
  stores.changed.on(() => void update());
  setUp.progress.on((line) => {
    building = line !== undefined;
    say(line === undefined ? messageFor(stores, filterText(runs)) : `Setting up compute. ${line}`);
  });
  void update();
  void configs.getChildren();
  return runsView;
}

/** Of a failure, which: each has a welcome of its own. */
function shownState(stores: Stores, setUp: SetUp): string {
  if (stores.state !== "failed") return stores.state;
  if (stores.remedies.includes("nodePath")) return "nodePath";
  return setUp.needed ? "setUp" : "failed";
}

/** Above the runs, when they may not be all there is to know. */
function messageFor(stores: Stores, filtered: string): string {
  const { state } = stores;
  if (state === "reconnecting") return "The connection to the daemon was lost; reconnecting. Runs continue.";
  if (state === "failed")
    return stores.runs.length > 0 ? "The daemon is not available; this may be out of date." : "";
  return [readingText(stores.reading), filtered].filter((part) => part !== "").join(" ");
}

export function deactivate(): void {
  // Disposables close the connection; the daemon and its runs continue.
}
