/** Next to a reward's function, how many reference answers it rewards as it is typed: in its file, or in a notebook's cell. */
import {
  InlayHint,
  Position,
  languages,
  workspace,
  type CancellationToken,
  type Disposable,
  type DocumentFilter,
  type NotebookDocument,
  type TextDocument,
} from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rewardGold, type GoldCount, type InputOf } from "../../../shared/protocol/protocol.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Asker } from "../connection/asker.ts";
import { asEvent } from "../connection/asEvent.ts";
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

export function goldHints(stores: Stores, naming: ConfigsNaming): Disposable {
  /** The cells of a notebook ask one after the other: one answer serves them. */
  let last: Answer | undefined;
  const countsOf = (asker: Asker, config: Edited): Promise<readonly GoldCount[]> => {
    const asked = JSON.stringify(config);
    if (last?.asked !== asked || last.until < Date.now())
      last = { asked, counts: counted(asker, config), until: Date.now() + knownFor };
    return last.counts;
  };
  const provideInlayHints = async (
    document: TextDocument,
    _range: unknown,
    token: CancellationToken,
  ): Promise<InlayHint[]> => {
    const asker = stores.askerOf(document.uri.with({ scheme: "file", fragment: "" }));
    if (asker === undefined || !stores.trusted || !setting("rewardsCheckOnSave", true)) return [];
    const notebook = workspace.notebookDocuments.find((one) => one.uri.path === document.uri.path);
    const file = notebook === undefined ? document.fileName : notebook.uri.fsPath;
    const configs = notebook === undefined ? await configsOf(naming, file) : [editedNotebook(notebook)];
    for (const config of configs) {
      if (token.isCancellationRequested) return [];
      const own = (await countsOf(asker, config)).filter((one) => one.file === file);
      const hints = own.flatMap((count) => hintOf(document, count) ?? []);
      if (hints.length > 0) return hints;
    }
    return [];
  };
  return languages.registerInlayHintsProvider(shownIn, {
    onDidChangeInlayHints: asEvent(stores.answering),
    provideInlayHints,
  });
}

async function configsOf(naming: ConfigsNaming, reward: string): Promise<readonly Edited[]> {
  const uris = await naming.of(reward);
  return await Promise.all(uris.map(async (uri) => edited(await workspace.openTextDocument(uri))));
}

async function counted(asker: Asker, config: Edited): Promise<readonly GoldCount[]> {
  const python = pythonPath();
  try {
    const asked = { ...config, trusted: true, ...(python !== undefined && { python }) };
    return (await asker.ask(rewardGold, asked)).counts ?? [];
  } catch (error) {
    // A config with errors has its own messages.
    output().debug(`reference answers of ${config.uri}: ${messageOf(error)}`);
    return [];
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
