/** Next to a reward's function, how many reference answers it rewards as it is typed: in its file, or in a notebook's cell. */
import {
  InlayHint,
  Position,
  languages,
  workspace,
  type CancellationToken,
  type Disposable,
  type DocumentFilter,
  type InlayHintsProvider,
  type NotebookDocument,
  type TextDocument,
} from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rewardGold, type GoldCount, type InputOf } from "../../../shared/protocol/protocol.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import { definedLine, goldText, notebookText } from "./document.ts";
import { edited } from "./documents.ts";
import { rewardFiles, type ConfigsNaming } from "./naming.ts";

type Edited = Pick<InputOf<typeof rewardGold>, "uri" | "text" | "unsaved">;

/** With the cells of notebooks. */
const shownIn: readonly DocumentFilter[] = [
  ...rewardFiles,
  { notebookType: "jupyter-notebook", language: "python" },
];

interface Answer {
  readonly asked: string;
  readonly counts: Promise<readonly GoldCount[]>;
  readonly until: number;
}
/** Milliseconds for which an answer holds: data and imported files may change on disk. */
const knownFor = 3_000;

export class GoldHints implements InlayHintsProvider, Disposable {
  readonly #registered: Disposable;
  /** The cells of a notebook ask one after the other: one answer serves them. */
  #last: Answer | undefined;

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    this.#registered = languages.registerInlayHintsProvider(shownIn, this);
  }

  dispose(): void {
    this.#registered.dispose();
  }

  async provideInlayHints(
    document: TextDocument,
    _range: unknown,
    token: CancellationToken,
  ): Promise<InlayHint[]> {
    if (!this.stores.trusted || !setting("rewardsCheckOnSave", true)) return [];
    const notebook = workspace.notebookDocuments.find((one) => one.uri.path === document.uri.path);
    const [file, configs] =
      notebook === undefined
        ? [document.fileName, await this.#configs(document)]
        : [notebook.uri.fsPath, [editedNotebook(notebook)]];
    for (const config of configs) {
      if (token.isCancellationRequested) return [];
      const counts = await this.#counts(document, config);
      const own = counts.filter((one) => one.file === file);
      const hints = own.flatMap((count) => hintOf(document, count) ?? []);
      if (hints.length > 0) return hints;
    }
    return [];
  }

  async #configs(reward: TextDocument): Promise<readonly Edited[]> {
    const uris = await this.naming.of(reward.fileName);
    return await Promise.all(uris.map(async (uri) => edited(await workspace.openTextDocument(uri))));
  }

  /** What is merely typed must not start a daemon. */
  #counts(document: TextDocument, config: Edited): Promise<readonly GoldCount[]> {
    const session = this.stores.ofFile(document.uri.with({ scheme: "file", fragment: "" }))?.machine.session;
    if (session === undefined) return Promise.resolve([]);
    const asked = JSON.stringify(config);
    if (this.#last?.asked === asked && this.#last.until > Date.now()) return this.#last.counts;
    const python = pythonPath();
    const counts = session
      .ask(rewardGold, { ...config, trusted: true, ...(python !== undefined && { python }) })
      .then((answer) => answer.counts ?? [])
      .catch((error: unknown) => {
        // A config with errors has its own messages.
        output().debug(`reference answers of ${config.uri}: ${messageOf(error)}`);
        return [];
      });
    this.#last = { asked, counts, until: Date.now() + knownFor };
    return counts;
  }
}

const editedNotebook = (notebook: NotebookDocument): Edited => ({
  uri: notebook.uri.toString(),
  text: notebookText(notebook.getCells().map(({ kind, document }) => ({ kind, text: document.getText() }))),
});

function hintOf(document: TextDocument, count: GoldCount): InlayHint | undefined {
  const line = definedLine(document.getText(), count.name);
  if (line === undefined) return undefined;
  const end = document.lineAt(line).text.trimEnd().length;
  const made = new InlayHint(new Position(line, end), goldText(count));
  made.paddingLeft = true;
  made.tooltip = `Of ${count.of} reference answers, written as the prompt asks, \`${count.term}\` rewards ${count.rewarded}.`;
  return made;
}
