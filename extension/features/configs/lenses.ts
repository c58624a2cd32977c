/** Above a config: ▶ Run | Validate | its last run. */
import {
  CodeLens,
  EventEmitter,
  Range,
  type CodeLensProvider,
  type Command,
  type TextDocument,
} from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { configLens, metricsSeries, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { isWatched } from "../../../shared/run/origin.ts";
import { trendOf, type Trend } from "../../../shared/lib/trend.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Asker } from "../connection/asker.ts";
import type { Stores } from "../connection/stores.ts";
import type { Forks } from "../runs/fork.ts";
import { lastRunTitle } from "./lastRun.ts";

export class ConfigLenses implements CodeLensProvider {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  /** By run. */
  readonly #trends = new Map<string, { readonly step: number; readonly trend: Promise<Trend | undefined> }>();

  constructor(
    private readonly stores: Stores,
    private readonly forks: Forks,
  ) {}

  refresh(): void {
    this.#changed.fire();
  }

  async provideCodeLenses(document: TextDocument): Promise<CodeLens[]> {
    if (!setting("codeLensEnabled", true, document)) return [];
    const top = new Range(0, 0, 0, 0);
    const lens = (command: Command): CodeLens => new CodeLens(top, command);
    const validate = lens({ title: "Validate", command: commands.configValidate, arguments: [document.uri] });
    if (!this.stores.trusted) return [validate];
    const pending = this.forks.pendingOf(document.uri);
    if (pending !== undefined)
      return [
        lens({
          title: `$(git-branch) Launch Fork of ${pending.run.name} from Step ${pending.step}`,
          tooltip: "Start a new run from the nearest checkpoint, trained by this config",
          command: commands.runLaunchFork,
        }),
        lens({ title: "Cancel", command: commands.runCancelFork }),
        validate,
      ];
    const last = await this.#lastRun(document);
    const live = last !== undefined && isLive(last.status) && !isWatched(last);
    return [
      live
        ? lens({ title: "$(debug-stop) Stop", command: commands.runStop, arguments: [last.id] })
        : lens({
            title: "$(play) Run",
            tooltip: "Start a run of this config",
            command: commands.runStart,
            arguments: [document.uri],
          }),
      validate,
      ...(live ? [] : several(document).map(lens)),
      ...(last === undefined
        ? []
        : [
            lens({
              title: lastRunTitle(last, await this.#trend(document, last)),
              command: commands.runOpen,
              arguments: [last.id],
            }),
          ]),
    ];
  }

  /** Of the reward, asked for once a step. */
  #trend(document: TextDocument, { id, step }: RunSummary): Promise<Trend | undefined> {
    const session = this.stores.ofFile(document.uri)?.machine.session;
    const known = this.#trends.get(id);
    if (known?.step === step || session === undefined) return known?.trend ?? Promise.resolve(undefined);
    const trend = rewardTrend(session, id);
    this.#trends.set(id, { step, trend });
    return trend;
  }

  /** What the window knows, else what the store says: it resolves links in paths. */
  async #lastRun(document: TextDocument): Promise<RunSummary | undefined> {
    const store = this.stores.ofFile(document.uri);
    const known = store?.runs.lastOf(document.uri.fsPath);
    const session = store?.machine.session;
    if (known !== undefined || session === undefined) return known;
    try {
      return (await session.ask(configLens, { uri: document.uri.toString() })).lastRun ?? undefined;
    } catch (error) {
      output().debug(`last run of ${document.uri.fsPath}: ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** Several runs of a config: those of its sweep, where it has one. */
function several(document: TextDocument): readonly Command[] {
  const { uri } = document;
  if (!/^sweep:/m.test(document.getText()))
    return [
      {
        title: "Run 3 Seeds",
        tooltip: "Start a run for each of several seeds",
        command: commands.runSeeds,
        arguments: [uri],
      },
    ];
  return [
    {
      title: "Run Sweep",
      tooltip: "Run this config with every combination of its `sweep`, in a terminal",
      command: commands.runSweep,
      arguments: [uri],
    },
    {
      title: "Compare Sweep",
      tooltip: "Compare the runs of its last sweep, seeds as one",
      command: commands.runCompareSweep,
      arguments: [uri],
    },
  ];
}

async function rewardTrend(session: Asker, run: string): Promise<Trend | undefined> {
  try {
    const { series } = await session.ask(metricsSeries, { run, metrics: ["reward/total"] });
    const values = series.flatMap((one) => one.values.filter((value) => value !== null));
    return values.length < 2 ? undefined : trendOf(values);
  } catch (error) {
    output().debug(`trend of ${run}: ${messageOf(error)}`);
    return undefined;
  }
}
