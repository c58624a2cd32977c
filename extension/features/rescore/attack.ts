/** A search for answers that a reward overpays: offered at the reward, with progress, and what it finds as failing tests. */
import { basename } from "node:path";
import {
  CodeAction,
  CodeActionKind,
  ProgressLocation,
  Uri,
  languages,
  window,
  workspace,
  type CodeActionContext,
  type CodeActionProvider,
  type Disposable,
  type Range,
  type TextDocument,
} from "vscode";
import { commands, language } from "../../../shared/editor/contributions.ts";
import { formatCount, formatNumber, plural } from "../../../shared/lib/format.ts";
import { rewardAttack, type ResultOf } from "../../../shared/protocol/protocol.ts";
import { register } from "../../vscode/commands.ts";
import type { Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import { functionLine } from "./document.ts";
import { edited } from "./documents.ts";
import { rewardFiles, type ConfigsNaming } from "./naming.ts";
import { probeCode, source } from "./rewardChecks.ts";

/** Seconds of an attack. */
const usual = 60;

export class RewardAttack implements CodeActionProvider, Disposable {
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    this.#disposables = [
      languages.registerCodeActionsProvider(
        [...rewardFiles, { scheme: "file", language: language.id }],
        this,
        {
          providedCodeActionKinds: [CodeActionKind.QuickFix],
        },
      ),
      register("rewardAttack", (config, seconds) => this.#start(config, seconds)),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  async provideCodeActions(
    document: TextDocument,
    range: Range,
    { diagnostics }: CodeActionContext,
  ): Promise<CodeAction[]> {
    if (!this.stores.trusted) return [];
    const found = diagnostics.filter((one) => one.source === source && one.code === probeCode);
    const config = await this.#configAt(document, range.start.line, found.length > 0);
    if (config === undefined) return [];
    const action = new CodeAction("Search for answers that this reward overpays", CodeActionKind.QuickFix);
    action.command = { title: action.title, command: commands.rewardAttack, arguments: [config] };
    action.diagnostics = found;
    return [action];
  }

  /** @param hasHole whether a check has found something on this line */
  async #configAt(document: TextDocument, line: number, hasHole: boolean): Promise<Uri | undefined> {
    if (document.languageId === language.id) return hasHole ? document.uri : undefined;
    for (const uri of await this.naming.of(document.fileName)) {
      if (hasHole) return uri;
      const config = await workspace.openTextDocument(uri);
      if (functionLine(document.getText(), document.fileName, config.getText()) === line) return uri;
    }
    return undefined;
  }

  /** @param seconds how long it may take */
  async #start(word: unknown, seconds: unknown): Promise<void> {
    const uri = await this.naming.pick(word);
    if (uri === undefined) return;
    const config = await workspace.openTextDocument(uri);
    const within = typeof seconds === "number" ? seconds : usual;
    const attacked = await this.#attack(config, within);
    if (attacked !== undefined) await show(attacked);
  }

  /** undefined: the person cancelled it. */
  async #attack(config: TextDocument, seconds: number): Promise<ResultOf<typeof rewardAttack> | undefined> {
    const session = await this.stores.session(this.stores.ofFile(config.uri));
    const python = pythonPath();
    const asked = { ...edited(config), seconds, ...(python !== undefined && { python }) };
    const title = `Searching for answers that the reward of ${basename(config.fileName)} overpays`;
    return window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      async (bar, token) => {
        let passed = 0;
        const timer = setInterval(() => {
          passed = Math.min(seconds, passed + 1);
          bar.report({ increment: 100 / seconds, message: `${passed} of ${seconds} s` });
        }, 1_000);
        try {
          const attacked = await session.ask(rewardAttack, asked, token);
          return token.isCancellationRequested ? undefined : attacked;
        } finally {
          clearInterval(timer);
        }
      },
    );
  }
}

async function show({
  holes,
  answers,
  seconds,
  file,
  failed = 0,
  failure = "",
  wrong,
}: ResultOf<typeof rewardAttack>): Promise<void> {
  if (file === null) {
    const tried = `${formatCount(answers)} answers in ${Math.round(seconds)} s`;
    // Not awaited, here and below: a message stays until the person closes it.
    if (failed > 0)
      void window.showWarningMessage(
        `${formatCount(failed)} of ${formatCount(answers)} answers made the reward fail: ${failure}`,
      );
    if (failed === answers) return;
    const best =
      wrong === undefined
        ? ""
        : ` The best-scored wrong answer gets ${formatNumber(wrong.reward)}: ${wrong.response === "" ? "the empty answer" : JSON.stringify(wrong.response.slice(0, 80))}.`;
    void window.showInformationMessage(
      `The search found no answer that counts as a success without the reference (${tried}).${best}`,
    );
    return;
  }
  await window.showTextDocument(Uri.file(file));
  void window.showWarningMessage(
    `The reward can be earned without the answer in ${plural(holes.length, "way")}. ${basename(file)} has a failing test of each; \`gradus test\` runs them. The first: ${holes[0]?.message ?? ""}`,
  );
}
