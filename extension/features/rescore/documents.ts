/** What an edit of a config's reward changes, in a diff editor that follows the edit; and sweeps of a weight. */
import {
  EventEmitter,
  Uri,
  commands as editor,
  window,
  workspace,
  type Disposable,
  type TextDocument,
  type TextDocumentContentProvider,
} from "vscode";
import { schemes } from "../../../shared/editor/contributions.ts";
import { rescore, rescoreSweep } from "../../../shared/protocol/protocol.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import { coalesce } from "../../vscode/coalesce.ts";
import { Nothing, register } from "../../vscode/commands.ts";
import type { Stores } from "../connection/stores.ts";
import { changedText, sweepTable, type Side } from "./document.ts";
import type { ConfigsNaming } from "./naming.ts";

/** `gradus-rescore:/before/<config's name>?<config's URI>`, and for a sweep `/sweep/<term>`. */
const addressed = (kind: Side | "sweep", title: string, config: Uri, term = ""): Uri =>
  Uri.from({
    scheme: schemes.rescore,
    path: `/${kind}/${title.replaceAll("/", "-")}`,
    query: config.toString(),
    fragment: term,
  });

export class RescoreDocuments implements TextDocumentContentProvider, Disposable {
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #visible = new Map<string, Uri>();
  /** Both sides of a diff ask one after the other: one answer serves them. */
  readonly #asked = new Map<
    string,
    { readonly version: number; readonly answer: Promise<Rescored | null> }
  >();
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    const follow = coalesce<string>(300, (configs) => this.#refresh(new Set(configs)));
    this.#disposables = [
      workspace.registerTextDocumentContentProvider(schemes.rescore, this),
      workspace.onDidChangeTextDocument(({ document }) => follow(document.uri.toString())),
      workspace.onDidCloseTextDocument(({ uri }) => void this.#visible.delete(uri.toString())),
      register("rescoreOpen", (config) => this.#open(config)),
      register("rescoreSweep", (config, term) => this.#sweep(config, term)),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    this.#visible.set(uri.toString(), uri);
    const [, kind] = uri.path.split("/");
    const document = await workspace.openTextDocument(Uri.parse(uri.query));
    if (kind === "sweep") return this.#table(document, uri.fragment);
    return changedText(await this.#rescored(document), kind === "before" ? "before" : "now");
  }

  #rescored(document: TextDocument): Promise<Rescored | null> {
    const key = document.uri.toString();
    const known = this.#asked.get(key);
    if (known?.version === document.version) return known.answer;
    const answer = this.#ask(document);
    this.#asked.set(key, { version: document.version, answer });
    return answer;
  }

  async #ask(document: TextDocument): Promise<Rescored | null> {
    const session = await this.stores.connected(this.stores.ofFile(document.uri));
    const { rescored } = await session.ask(rescore, { ...edited(document), scope: "run" });
    return rescored;
  }

  async #table(document: TextDocument, term: string): Promise<string> {
    const session = await this.stores.connected(this.stores.ofFile(document.uri));
    const { sweep } = await session.ask(rescoreSweep, { ...edited(document), term });
    return sweepTable(sweep, term);
  }

  async #open(word: unknown): Promise<void> {
    const config = await this.#config(word);
    if (config === undefined) return;
    const name = workspace.asRelativePath(config);
    await editor.executeCommand(
      "vscode.diff",
      addressed("before", `${name} as it ran`, config),
      addressed("now", `${name} as it is`, config),
      `${name}: rollouts that change most`,
      { preview: true },
    );
  }

  async #sweep(word: unknown, term: unknown): Promise<void> {
    const config = await this.#config(word);
    if (config === undefined) return;
    const wanted = typeof term === "string" ? term : await this.#pickTerm(config);
    if (wanted === undefined) return;
    await window.showTextDocument(addressed("sweep", `weight of ${wanted}`, config, wanted), {
      preview: true,
    });
  }

  /** The language server knows a config by its URI as a text. */
  #config(word: unknown): Promise<Uri | undefined> {
    return typeof word === "string" ? Promise.resolve(Uri.parse(word)) : this.naming.pick(word);
  }

  async #pickTerm(config: Uri): Promise<string | undefined> {
    const rescored = await this.#rescored(await workspace.openTextDocument(config));
    if (rescored === null)
      throw new Nothing(
        "There are no rollouts to sweep a weight over.",
        "Fix the config's errors, or run it first.",
      );
    const terms = rescored.change.terms.map(({ term }) => term);
    return terms.length === 1 ? terms[0] : window.showQuickPick(terms, { title: "Term to Sweep" });
  }

  #refresh(configs: ReadonlySet<string>): void {
    for (const uri of this.#visible.values()) if (configs.has(uri.query)) this.#changed.fire(uri);
  }
}

/** A config as it is in the editor, with the other files that are not saved: reward functions among them. */
export function edited(config: TextDocument): {
  readonly uri: string;
  readonly text: string;
  readonly unsaved: Record<string, string>;
  readonly trusted: boolean;
} {
  const dirty = workspace.textDocuments.filter(
    ({ isDirty, uri, fileName }) => isDirty && uri.scheme === "file" && /\.(?:[cm]?[jt]s|py)$/.test(fileName),
  );
  return {
    uri: config.uri.toString(),
    text: config.getText(),
    unsaved: Object.fromEntries(dirty.map((document) => [document.fileName, document.getText()])),
    trusted: workspace.isTrusted,
  };
}
