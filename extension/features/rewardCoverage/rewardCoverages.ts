/**
 * Which lines of a reward's file the last run's rollouts reach, next to the lines themselves. The editor's own test
 * coverage would need a test run of a controller, hides its colours until they are asked for, and cannot say of how
 * many rollouts.
 */
import {
  MarkdownString,
  OverviewRulerLane,
  ProgressLocation,
  Range,
  ThemeColor,
  window,
  workspace,
  type Disposable,
  type TextDocument,
  type TextEditorDecorationType,
} from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rewardCoverage } from "../../../shared/protocol/protocol.ts";
import { Nothing, register } from "../../vscode/commands.ts";
import { output } from "../../vscode/output.ts";
import type { Stores } from "../connection/stores.ts";
import { edited } from "../rescore/documents.ts";
import { mayBeReward, type ConfigsNaming } from "../rescore/naming.ts";
import { coveredLines, reaches, type CoveredLine, type Reach } from "./lines.ts";

/** A bar at the line's start; its style says the same as its colour. */
const looks: Readonly<Record<Reach, { readonly color: string; readonly style: string }>> = {
  reached: { color: "charts.green", style: "solid" },
  partly: { color: "charts.yellow", style: "dashed" },
  never: { color: "charts.red", style: "double" },
};

function decoration(reach: Reach): TextEditorDecorationType {
  const { style } = looks[reach];
  const color = new ThemeColor(looks[reach].color);
  return window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: style,
    borderWidth: "0 0 0 3px",
    borderColor: color,
    ...(reach !== "reached" && { overviewRulerColor: color, overviewRulerLane: OverviewRulerLane.Left }),
  });
}

export class RewardCoverages implements Disposable {
  readonly #types = reaches.map((reach) => ({ reach, type: decoration(reach) }));
  /** What is shown of the files for which it is switched on, by URI: nothing while one differs from what was scored. */
  readonly #shown = new Map<string, readonly CoveredLine[]>();
  readonly #disposables: readonly Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    this.#disposables = [
      ...this.#types.map(({ type }) => type),
      register("rewardCoverage", () => this.#toggle()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#show(document, []);
      }),
      workspace.onDidSaveTextDocument((document) => this.#refresh(document)),
      workspace.onDidCloseTextDocument(({ uri }) => void this.#shown.delete(uri.toString())),
      window.onDidChangeVisibleTextEditors(() => {
        for (const { document } of window.visibleTextEditors) this.#draw(document);
      }),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  async #toggle(): Promise<void> {
    const document = window.activeTextEditor?.document;
    if (document === undefined || !mayBeReward(document))
      throw new Nothing(
        "No reward function's file is active.",
        "Open the TypeScript, JavaScript or Python file of a reward first.",
      );
    const key = document.uri.toString();
    if (this.#shown.delete(key)) return this.#draw(document);
    this.#shown.set(key, []);
    try {
      await this.#measure(document);
    } catch (error) {
      this.#shown.delete(key);
      throw error;
    }
  }

  /** Saved again: a file that no longer loads has its own messages. */
  #refresh(document: TextDocument): void {
    if (!this.#shown.has(document.uri.toString())) return;
    this.#measure(document).catch((error: unknown) =>
      output().debug(`coverage of ${document.fileName}: ${messageOf(error)}`),
    );
  }

  async #measure(document: TextDocument): Promise<void> {
    const { version } = document;
    const title = `Scoring rollouts for the coverage of ${workspace.asRelativePath(document.uri)}`;
    const lines = await window.withProgress({ location: ProgressLocation.Window, title }, () =>
      this.#lines(document),
    );
    if (document.version === version) this.#show(document, lines);
  }

  /** Of the first config that names the file and whose last run has rollouts. */
  async #lines(document: TextDocument): Promise<readonly CoveredLine[]> {
    for (const uri of await this.naming.of(document.fileName)) {
      const config = await workspace.openTextDocument(uri);
      const session = await this.stores.connected(this.stores.ofFile(uri));
      const { coverage } = await session.ask(rewardCoverage, edited(config));
      const own = coverage?.files.find(({ file }) => file === document.fileName);
      if (coverage && own) return coveredLines(coverage, own);
    }
    throw new Nothing(
      "No run of a config that names this file has recorded rollouts.",
      "Run a config that names it in `use` of a reward term first.",
    );
  }

  #show(document: TextDocument, lines: readonly CoveredLine[]): void {
    const key = document.uri.toString();
    if (!this.#shown.has(key)) return;
    this.#shown.set(key, lines);
    this.#draw(document);
  }

  #draw(document: TextDocument): void {
    const lines = this.#shown.get(document.uri.toString()) ?? [];
    const editors = window.visibleTextEditors.filter((editor) => editor.document === document);
    for (const editor of editors)
      for (const { reach, type } of this.#types)
        editor.setDecorations(
          type,
          lines
            .filter((line) => line.reach === reach)
            .map(({ line, hover }) => ({
              range: new Range(line, 0, line, 0),
              hoverMessage: new MarkdownString(hover),
            })),
        );
  }
}
