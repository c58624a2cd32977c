/** Above a config: ▶ Run | Validate | its last run. */
import {
  CodeLens,
  EventEmitter,
  Range,
  type CodeLensProvider,
  type Command,
  type TextDocument,
} from "vscode";
import { commands } from "../../../shared/contributions.ts";
import { messageOf } from "../../../shared/errors.ts";
import { formatFraction, formatNumber } from "../../../shared/format.ts";
import { configLens, type RunSummary } from "../../../shared/protocol.ts";
import { isLive } from "../../../shared/runStatus.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";

/** "Last run: reward 0.41, pass@1 38.8 %", or where a live one stands. */
export function lastRunTitle(run: RunSummary): string {
  const reward = run.headline["reward/total"];
  const pass = run.last?.["eval/pass@1"] ?? run.headline["eval/pass@1"];
  const numbers = [
    ...(reward === undefined ? [] : [`reward ${formatNumber(reward)}`]),
    ...(pass === undefined ? [] : [`pass@1 ${formatFraction(pass, 1)}`]),
  ].join(", ");
  if (isLive(run.status))
    return `$(pulse) Step ${run.step + 1} of ${run.steps}${numbers === "" ? "" : `: ${numbers}`}`;
  return `Last run: ${run.status === "finished" && numbers !== "" ? numbers : [run.status, numbers].filter((part) => part !== "").join(", ")}`;
}

export class ConfigLenses implements CodeLensProvider {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(private readonly stores: Stores) {}

  refresh(): void {
    this.#changed.fire();
  }

  async provideCodeLenses(document: TextDocument): Promise<CodeLens[]> {
    if (!setting("codeLensEnabled", true)) return [];
    const top = new Range(0, 0, 0, 0);
    const lens = (command: Command): CodeLens => new CodeLens(top, command);
    const validate = lens({ title: "Validate", command: commands.configValidate, arguments: [document.uri] });
    if (!this.stores.trusted) return [validate];
    const last = await this.#lastRun(document);
    const live = last !== undefined && isLive(last.status);
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
      ...(last === undefined
        ? []
        : [lens({ title: lastRunTitle(last), command: commands.runOpen, arguments: [last.id] })]),
    ];
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
