/** One status-bar item for what runs, and the language's own item for the state of the connection. */
import {
  LanguageStatusSeverity,
  MarkdownString,
  StatusBarAlignment,
  languages,
  window,
  type Disposable,
} from "vscode";
import { commands, language, views } from "../../../shared/editor/contributions.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { alarmOf } from "../../../shared/run/verdict.ts";
import { plainMarkdown } from "../../../shared/lib/visibleText.ts";
import type { Stores } from "../connection/stores.ts";
import { runDescription, statusText } from "../runs/treeModel.ts";
import { barText, type Card } from "../trainers/card.ts";

export class Status implements Disposable {
  readonly #runs = window.createStatusBarItem("gradus.runs", StatusBarAlignment.Left, 0);
  readonly #connection = languages.createLanguageStatusItem("gradus.connection", { language: language.id });

  /** The last run that ended with a warning, until it is looked at or another one is started. */
  #alarm: RunSummary | undefined;

  /**
   * @param seen whether a run is before the person's eyes
   * @param cards what there is of other trainers, said while there is nothing to say of runs
   */
  constructor(
    private readonly stores: Stores,
    private readonly seen: (run: string) => boolean,
    private readonly cards: () => readonly Card[],
  ) {
    stores.ended.on((run) => {
      this.#alarm = alarmOf(run) === undefined ? undefined : run;
      this.update();
    });
    this.#runs.name = "Gradus Runs";
    this.#connection.name = "Gradus";
    this.#connection.command = { command: commands.daemonStatus, title: "Show Status" };
    this.update();
  }

  dispose(): void {
    this.#runs.dispose();
    this.#connection.dispose();
  }

  update(): void {
    const { live } = this.stores;
    const alarm = this.#alarmed(live);
    const text = statusText(live, alarm);
    const listed = live.length === 0 && alarm !== undefined ? [alarm] : live;
    this.#runs.command =
      live.length === 0 && alarm !== undefined
        ? { command: commands.runOpen, title: "Open Run", arguments: [alarm.id] }
        : commands.runOpen;
    if (text === undefined) this.#showCards();
    else {
      this.#runs.text = text;
      this.#runs.tooltip = new MarkdownString(
        listed.map((run) => plainMarkdown(`${run.name}: ${runDescription(run, Date.now())}`)).join("  \n"),
      );
      this.#runs.accessibilityInformation = {
        label: `Gradus: ${listed.map((run) => `${run.name}, ${runDescription(run, Date.now())}`).join("; ")}`,
      };
      this.#runs.show();
    }
    this.#updateConnection();
  }

  #showCards(): void {
    const cards = this.cards();
    const text = barText(cards);
    if (text === undefined) return this.#runs.hide();
    this.#runs.text = `$(rocket) ${text}`;
    this.#runs.tooltip = cards.map(({ title, said }) => `${title} · ${said}`).join("\n");
    this.#runs.accessibilityInformation = { label: `Gradus: ${text}` };
    this.#runs.command = `${views.runs}.focus`;
    this.#runs.show();
  }

  #alarmed(live: readonly RunSummary[]): RunSummary | undefined {
    const alarm = this.#alarm;
    const over =
      alarm === undefined ||
      live.length > 0 ||
      this.seen(alarm.id) ||
      this.stores.ofRun(alarm.id) === undefined;
    if (over) this.#alarm = undefined;
    return this.#alarm;
  }

  #updateConnection(): void {
    const state = this.stores.state;
    const words: Readonly<Record<typeof state, string>> = {
      none: this.stores.trusted
        ? "Gradus: editing only"
        : "Gradus: editing only until the workspace is trusted",
      disconnected: "Daemon stopped",
      starting: "Starting daemon",
      handshaking: "Connecting",
      ready: "Daemon ready",
      reconnecting: "Reconnecting",
      failed: "Daemon failed",
    };
    this.#connection.text = words[state];
    this.#connection.busy = ["starting", "handshaking", "reconnecting"].includes(state);
    this.#connection.severity =
      state === "failed" ? LanguageStatusSeverity.Error : LanguageStatusSeverity.Information;
    const failed = this.stores.all.map((store) => store.machine.state).find((one) => one.state === "failed");
    this.#connection.detail = failed?.state === "failed" ? failed.reason : "";
  }
}
