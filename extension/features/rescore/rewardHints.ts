/** In a reward function's file, the values that the function as it is typed would have given in the last run. */
import { basename } from "node:path";
import {
  InlayHint,
  MarkdownString,
  Position,
  languages,
  workspace,
  type CancellationToken,
  type Disposable,
  type InlayHintsProvider,
  type TextDocument,
  type Uri,
} from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rescore } from "../../../shared/protocol/protocol.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import { changeText, shortLabel } from "../../../shared/rollouts/rescoreText.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import { findConfigs, findTrainerFiles } from "../configs/find.ts";
import type { Stores } from "../connection/stores.ts";
import { exportLine, isTrainerText, pythonLine } from "./document.ts";
import { edited } from "./documents.ts";

/** For a file that many configs name, the first of them that has a run is used. */
const mostConfigs = 4;
/** Milliseconds for which it stays known which configs name a file. */
const knownFor = 10_000;

export class RewardHints implements InlayHintsProvider, Disposable {
  readonly #registered: Disposable;
  readonly #naming = new Map<string, { readonly until: number; readonly configs: Promise<readonly Uri[]> }>();

  constructor(private readonly stores: Stores) {
    const scheme = "file";
    this.#registered = languages.registerInlayHintsProvider(
      [
        { scheme, language: "typescript" },
        { scheme, language: "javascript" },
        { scheme, language: "python" },
      ],
      this,
    );
  }

  dispose(): void {
    this.#registered.dispose();
  }

  async provideInlayHints(
    document: TextDocument,
    _range: unknown,
    token: CancellationToken,
  ): Promise<InlayHint[]> {
    const isPython = document.languageId === "python";
    const text = document.getText();
    if (!isPython && exportLine(text) === undefined) return [];
    if (!this.stores.trusted || !setting("evidenceEnabled", true)) return [];
    for (const uri of await this.#configsNaming(document.fileName)) {
      if (token.isCancellationRequested) return [];
      const config = await workspace.openTextDocument(uri);
      const line = isPython
        ? pythonLine(text, basename(document.fileName), config.getText())
        : exportLine(text);
      if (line === undefined) continue;
      const rescored = await this.#rescored(config, document);
      if (rescored !== null && changes(rescored)) return [hint(document, line, config, rescored)];
    }
    return [];
  }

  #configsNaming(file: string): Promise<readonly Uri[]> {
    const known = this.#naming.get(file);
    if (known !== undefined && known.until > Date.now()) return known.configs;
    const configs = naming(file);
    this.#naming.set(file, { until: Date.now() + knownFor, configs });
    return configs;
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

/**
 * As far as their own text says so, on disk. A Python reward may belong to a trainer's configuration, and to the very
 * script that trains with it.
 */
async function naming(file: string): Promise<readonly Uri[]> {
  const isPython = file.endsWith(".py");
  const scripts = isPython ? await findTrainerFiles() : [];
  const found: Uri[] = [];
  for (const uri of [...(await findConfigs()), ...scripts]) {
    const text = new TextDecoder().decode(await workspace.fs.readFile(uri));
    const isScript = scripts.includes(uri);
    if (isScript && !isTrainerText(text)) continue;
    if (text.includes(basename(file)) || (isScript && uri.fsPath === file)) found.push(uri);
    if (found.length >= mostConfigs) break;
  }
  return found;
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
