/** When a reward or its config is saved, what is wrong with the reward: on its line, or on the data's. */
import {
  Diagnostic,
  DiagnosticSeverity,
  ProgressLocation,
  Range,
  Uri,
  languages,
  window,
  workspace,
  type Disposable,
  type TextDocument,
} from "vscode";
import { settings } from "../../../shared/editor/contributions.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { rewardCheck, type RewardFinding } from "../../../shared/protocol/protocol.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import { edited } from "./documents.ts";
import { Findings } from "./findings.ts";
import { mayBeConfig, mayBeReward, type ConfigsNaming } from "./naming.ts";

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
} as const;

/** How a diagnostic of ours is known again. */
export const source = "Gradus";
export const probeCode = "reward-probe";

export class RewardChecks implements Disposable {
  readonly #diagnostics = languages.createDiagnosticCollection("gradus-rewards");
  readonly #findings = new Findings();
  /** Files of which it has been asked what the last run recorded. */
  readonly #looked = new Set<string>();
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    this.#disposables = [
      this.#diagnostics,
      workspace.onDidSaveTextDocument((document) => void this.#saved(document)),
      workspace.onDidDeleteFiles(({ files }) => this.#deleted(files)),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(settings.rewardsCheckOnSave)) this.#switched();
      }),
      window.onDidChangeActiveTextEditor((editor) => void this.#shown(editor?.document)),
    ];
    // What a run recorded shows once there is a store to ask, and when a run has ended.
    stores.changed.on(() => void this.#shown(window.activeTextEditor?.document));
    stores.ended.on(() => {
      this.#looked.clear();
      void this.#shown(window.activeTextEditor?.document);
    });
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** What a check that a person asked for has found. */
  found(config: Uri, findings: readonly RewardFinding[]): void {
    this.#findings.set(config.toString(), findings, false);
    this.#publish();
  }

  async #saved(document: TextDocument): Promise<void> {
    const isConfig = mayBeConfig(document);
    if (isConfig || mayBeReward(document)) this.naming.forget();
    if (!setting("rewardsCheckOnSave", true)) return;
    if (isConfig) await this.#check(document, false);
    else if (mayBeReward(document)) await this.#checkAll(document, false);
    // Data, in which a row may have been corrected.
    else
      for (const config of this.#findings.about(document.fileName))
        await this.#check(await workspace.openTextDocument(Uri.parse(config)), false);
  }

  async #shown(document: TextDocument | undefined): Promise<void> {
    if (document === undefined || !mayBeReward(document) || !setting("rewardsCheckOnSave", true)) return;
    if (
      this.#looked.has(document.fileName) ||
      this.stores.ofFile(document.uri)?.machine.session === undefined
    )
      return;
    this.#looked.add(document.fileName);
    await this.#checkAll(document, true);
  }

  async #checkAll(reward: TextDocument, recorded: boolean): Promise<void> {
    for (const uri of await this.naming.of(reward.fileName))
      await this.#check(await workspace.openTextDocument(uri), recorded);
  }

  /** What is merely checked must not start a daemon. */
  async #check(config: TextDocument, recorded: boolean): Promise<void> {
    const session = this.stores.ofFile(config.uri)?.machine.session;
    if (session === undefined || !this.stores.trusted) return;
    const python = pythonPath();
    const asked = { ...edited(config), recorded, ...(python !== undefined && { python }) };
    const ask = () => session.ask(rewardCheck, asked);
    const bar = { location: ProgressLocation.Window, title: "Checking rewards" };
    try {
      const { findings, notes } = await (recorded ? ask() : window.withProgress(bar, ask));
      for (const note of notes) output().info(`${config.fileName}: ${note}`);
      if (findings !== null) this.#findings.set(config.uri.toString(), findings, recorded);
    } catch (error) {
      // A config with errors has its own messages, and a lost connection comes back.
      output().debug(`rewards of ${config.fileName}: ${messageOf(error)}`);
      if (error instanceof UserError && !recorded) this.#findings.forget(config.uri.toString());
    }
    this.#publish();
  }

  #deleted(files: readonly Uri[]): void {
    this.naming.forget();
    if (files.filter((uri) => this.#findings.forget(uri.toString())).length > 0) this.#publish();
  }

  #switched(): void {
    this.#findings.clear();
    this.#looked.clear();
    this.#publish();
    void this.#shown(window.activeTextEditor?.document);
  }

  #publish(): void {
    this.#diagnostics.clear();
    this.#diagnostics.set(
      [...this.#findings.byFile].flatMap(([file, findings]) =>
        findings.map((finding): [Uri, Diagnostic[]] => {
          const open = openDocument(file, finding.cell);
          return [open?.uri ?? Uri.file(file), [diagnostic(finding, open)]];
        }),
      ),
    );
  }
}

/** A file that is open, or the cell of a notebook that is. */
function openDocument(file: string, cell: number | undefined): TextDocument | undefined {
  const uri = Uri.file(file).toString();
  return cell === undefined
    ? workspace.textDocuments.find((document) => document.uri.toString() === uri)
    : workspace.notebookDocuments.find((notebook) => notebook.uri.toString() === uri)?.getCells()[cell - 1]
        ?.document;
}

function diagnostic(
  { line, severity, check, message }: RewardFinding,
  open: TextDocument | undefined,
): Diagnostic {
  const text = open !== undefined && line < open.lineCount ? open.lineAt(line) : undefined;
  const range =
    text === undefined || text.isEmptyOrWhitespace
      ? new Range(line, 0, line, 1)
      : new Range(line, text.firstNonWhitespaceCharacterIndex, line, text.text.trimEnd().length);
  const made = new Diagnostic(range, message, severities[severity]);
  made.source = source;
  made.code = check === "probe" ? probeCode : `reward-${check}`;
  return made;
}
