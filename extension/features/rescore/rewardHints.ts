/** In a reward function's file, the values that the function as it is typed would have given in the last run. */
import {
  InlayHint,
  MarkdownString,
  Position,
  languages,
  workspace,
  type CancellationToken,
  type Disposable,
  type Event,
  type InlayHintsProvider,
  type TextDocument,
} from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rescore } from "../../../shared/protocol/protocol.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import { changeText, shortLabel } from "../../../shared/rollouts/rescoreText.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import { asEvent } from "../connection/asEvent.ts";
import type { Stores } from "../connection/stores.ts";
import { exportLine, functionLine } from "./document.ts";
import { edited } from "./documents.ts";
import { rewardFiles, type ConfigsNaming } from "./naming.ts";

export class RewardHints implements InlayHintsProvider, Disposable {
  readonly onDidChangeInlayHints: Event<void>;
  readonly #registered: Disposable;

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    this.onDidChangeInlayHints = asEvent(stores.answering);
    this.#registered = languages.registerInlayHintsProvider(rewardFiles, this);
  }

  dispose(): void {
    this.#registered.dispose();
  }

  /** Of the configs that name the file, the first that has a run is used. */
  async provideInlayHints(
    document: TextDocument,
    _range: unknown,
    token: CancellationToken,
  ): Promise<InlayHint[]> {
    const text = document.getText();
    if (document.languageId !== "python" && exportLine(text) === undefined) return [];
    if (!this.stores.trusted || !setting("evidenceEnabled", true)) return [];
    for (const uri of await this.naming.of(document.fileName)) {
      if (token.isCancellationRequested) return [];
      const config = await workspace.openTextDocument(uri);
      const line = functionLine(text, document.fileName, config.getText());
      if (line === undefined) continue;
      const rescored = await this.#rescored(config, document);
      if (rescored !== null && changes(rescored)) return [hint(document, line, config, rescored)];
    }
    return [];
  }

  async #rescored(config: TextDocument, reward: TextDocument): Promise<Rescored | null> {
    const session = this.stores.ofFile(config.uri)?.machine.session;
    if (session === undefined) return null;
    try {
      const asked = edited(config);
      const unsaved = { ...asked.unsaved, [reward.fileName]: reward.getText() };
      return (await session.ask(rescore, { ...asked, unsaved })).rescored;
    } catch (error) {
      // A config with errors has its own messages.
      output().debug(`rescore of ${config.fileName}: ${messageOf(error)}`);
      return null;
    }
  }
}

const changes = ({ change }: Rescored): boolean =>
  change.terms.some(({ changed, errors }) => changed > 0 || errors > 0);

function hint(document: TextDocument, line: number, config: TextDocument, rescored: Rescored): InlayHint {
  const made = new InlayHint(new Position(line, document.lineAt(line).text.trimEnd().length), [
    {
      value: shortLabel(rescored),
      command: {
        title: "Show the rollouts that changed most",
        command: commands.rescoreOpen,
        arguments: [config.uri.toString()],
      },
    },
  ]);
  made.paddingLeft = true;
  made.tooltip = new MarkdownString(changeText(rescored));
  return made;
}
