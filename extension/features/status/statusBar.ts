/** One status-bar item for what runs, and the language's own item for how the connection stands. */
import {
  LanguageStatusSeverity,
  MarkdownString,
  StatusBarAlignment,
  languages,
  window,
  type Disposable,
} from "vscode";
import { commands, language } from "../../../shared/contributions.ts";
import { plainMarkdown } from "../../../shared/visibleText.ts";
import type { Stores } from "../connection/stores.ts";
import { runDescription, statusText } from "../runs/treeModel.ts";

export class Status implements Disposable {
  readonly #runs = window.createStatusBarItem("gradus.runs", StatusBarAlignment.Left, 0);
  readonly #connection = languages.createLanguageStatusItem("gradus.connection", { language: language.id });

  constructor(private readonly stores: Stores) {
    this.#runs.name = "Gradus Runs";
    this.#runs.command = commands.runOpen;
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
    const text = statusText(live);
    if (text === undefined) this.#runs.hide();
    else {
      this.#runs.text = text;
      this.#runs.tooltip = new MarkdownString(
        live.map((run) => plainMarkdown(`${run.name}: ${runDescription(run, Date.now())}`)).join("  \n"),
      );
      this.#runs.accessibilityInformation = {
        label: `Gradus: ${live.map((run) => `${run.name}, ${runDescription(run, Date.now())}`).join("; ")}`,
      };
      this.#runs.show();
    }
    this.#updateConnection();
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
