/** The language server: the same code in the daemon's connections and in `gradus lsp --stdio`. */
import {
  TextDocumentSyncKind,
  TextDocuments,
  type Connection,
  type InitializeParams,
  type InitializeResult,
  type PublishDiagnosticsParams,
  type ServerCapabilities,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Diagnostic } from "../config/check/diagnostic.ts";
import { checkText } from "../frameworks/check/index.ts";
import { OpenConfigs, FrameworkFiles, isConfig, type OpenConfig, type FrameworkFile } from "./documents.ts";
import type { JsonObject } from "../../shared/lib/json.ts";
import { fileReference } from "../config/check/method.ts";
import { isObject, valueAt } from "../analysis/evidence/json.ts";
import type { Evidence } from "./evidence.ts";
import type { DocumentDiagnostics, LanguageContext, EditorCapabilities } from "./feature.ts";
import { evidenceDiagnostics } from "./features/evidence.ts";
import { features } from "./features/index.ts";
import { BackgroundFacts } from "./backgroundFacts.ts";
import { guarded } from "./guard.ts";
import { Notebooks, notebookSync } from "./notebooks/index.ts";
import { toLsp } from "./published.ts";
import { changedSurroundings, surroundingsOf, watchSurroundings } from "./surroundings.ts";

import type { Rescoring } from "./rescoring.ts";
import { pathOfAddress } from "../../shared/lib/fileAddress.ts";

export type { LastRun } from "../analysis/evidence/types.ts";
export type { Evidence } from "./evidence.ts";

export interface LanguageOptions {
  readonly evidence?: Evidence;
  readonly rescoring?: Rescoring;
  /** Told after every check: the open configs' files with every file they read, for a watcher on disk. */
  readonly onDocuments?: (
    configs: readonly { readonly file: string; readonly files: readonly string[] }[],
  ) => void;
  readonly version?: string;
}

interface AttachedLanguage {
  /** Checks the open configs again: a file that one of them read has changed on disk. */
  revalidate(): void;
  dispose(): void;
}

/** Wires the language features onto a connection. The caller creates it and calls `listen`. */
export function attachLanguage(connection: Connection, options: LanguageOptions = {}): AttachedLanguage {
  return new Language(connection, options);
}

class Language implements AttachedLanguage {
  private readonly documents = new TextDocuments(TextDocument);
  private readonly notebooks = new Notebooks();
  private readonly facts = new BackgroundFacts(
    () => this.revalidate(),
    (error) => this.connection.console.error(`datasets: ${error.stack ?? error.message}`),
  );
  private readonly configs = new OpenConfigs(this.facts, () => this.editor.folders[0]);
  private readonly pending = new Map<string, NodeJS.Immediate>();
  private readonly frameworkFiles = new FrameworkFiles(() => this.editor.folders[0]);
  private readonly diagnostics = new Map<string, DocumentDiagnostics>();
  private readonly published = new Map<string, OpenConfig | FrameworkFile>();
  private readonly disposables: { dispose(): void }[] = [];
  private readonly outdated = new Set<string>();
  private readonly ready: (() => void)[] = [];
  private readonly changes: ((file: string) => void)[] = [];
  private editor: EditorCapabilities = {
    lenses: false,
    suggest: false,
    drawsRun: false,
    trusted: false,
    client: {},
    folders: [],
  };

  constructor(
    private readonly connection: Connection,
    private readonly options: LanguageOptions,
  ) {
    connection.onInitialize((params) => this.initialize(params));
    this.documents.onDidChangeContent(({ document }) => this.schedule(document.uri));
    this.documents.onDidClose(({ document }) => this.close(document.uri));
    this.documents.onDidSave(() => this.revalidate());
    connection.onInitialized(() => this.ready.forEach((notify) => notify()));
    this.ready.push(() => watchSurroundings(connection, this.editor));
    connection.onDidChangeWatchedFiles(() => this.revalidate());
    connection.onDidChangeConfiguration(({ settings }) => {
      this.frameworkFiles.stale(changedSurroundings(settings));
      this.revalidate();
    });
    this.provide();
    this.disposables.push(this.documents.listen(connection));
    this.disposables.push(
      ...this.notebooks.listen(connection, {
        changed: (uri) => this.schedule(uri),
        saved: () => this.revalidate(),
        closed: (uri) => this.close(uri),
      }),
    );
    const evidence = options.evidence?.onChange?.((file) => this.seen(file));
    if (evidence !== undefined) this.disposables.push(evidence);
    const rescored = options.rescoring?.onChange((file) => this.notify(file));
    if (rescored !== undefined) this.disposables.push(rescored);
  }

  revalidate(): void {
    this.configs.stale();
    this.frameworkFiles.stale();
    for (const { uri } of this.documents.all()) this.schedule(uri);
    for (const uri of this.notebooks.uris) this.schedule(uri);
  }

  /** Runs have shown something new about a config: its diagnostics are published again without reading the text again. */
  private seen(file: string): void {
    for (const [uri, read] of this.published)
      if ("loaded" in read && read.file === file) {
        this.outdated.add(uri);
        this.schedule(uri);
      }
    this.notify(file);
  }

  private notify(file: string): void {
    for (const changed of this.changes) changed(file);
  }

  dispose(): void {
    for (const handle of this.pending.values()) clearImmediate(handle);
    this.pending.clear();
    this.facts.dispose();
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
  }

  private initialize(params: InitializeParams): InitializeResult {
    this.editor = editorCapabilities(params);
    this.frameworkFiles.stale(surroundingsOf(params.initializationOptions));
    const { version } = this.options;
    return {
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        notebookDocumentSync: notebookSync,
        ...features.reduce<ServerCapabilities>(
          (all, { capabilities }) => ({ ...all, ...capabilities(this.editor) }),
          {},
        ),
      },
      serverInfo: { name: "gradus", ...(version === undefined ? {} : { version }) },
    };
  }

  private provide(): void {
    const { connection } = this;
    const context: LanguageContext = {
      connection,
      evidence: this.options.evidence,
      rescoring: this.options.rescoring,
      editor: () => this.editor,
      config: (uri) => this.config(uri),
      frameworkFile: (uri) => this.frameworkFile(uri),
      configs: () => this.documents.all().flatMap(({ uri }) => this.config(uri) ?? []),
      diagnostics: (uri) => {
        this.check(uri);
        return this.diagnostics.get(uri) ?? { own: [], published: [] };
      },
      onReady: (listener) => void this.ready.push(listener),
      onEvidence: (listener) => void this.changes.push(listener),
      guarded: (name, fallback, handle) =>
        guarded(
          name,
          fallback,
          (text) => connection.console.error(text),
          this.notebooks.answering(fallback, handle),
        ),
    };
    for (const { provide } of features) provide(context);
  }

  private config(uri: string): OpenConfig | undefined {
    const document = this.documents.get(uri);
    return document === undefined || !isConfig(document) ? undefined : this.configs.get(document);
  }

  private frameworkFile(uri: string): FrameworkFile | undefined {
    const module = this.notebooks.module(uri);
    if (module !== undefined) return this.frameworkFiles.get(module);
    const document = this.documents.get(uri);
    return document === undefined || isConfig(document) ? undefined : this.frameworkFiles.get(document);
  }

  /**
   * Once all messages that have arrived are handled: of a burst of changes only the last is checked. The connection
   * takes one message a turn, so that a check has to let one turn pass in which none came.
   */
  private schedule(uri: string): void {
    clearImmediate(this.pending.get(uri));
    const check = (): void => {
      this.pending.delete(uri);
      this.check(uri);
    };
    this.pending.set(
      uri,
      setImmediate(() => this.pending.set(uri, setImmediate(check))),
    );
  }

  private check(uri: string): void {
    try {
      const read = this.config(uri) ?? this.frameworkFile(uri);
      if (read === undefined) return this.clear(uri);
      if (!this.outdated.delete(uri) && this.published.get(uri) === read) return;
      const own = "loaded" in read ? this.ownDiagnostics(read) : checkText(read.document);
      const { file } = "loaded" in read ? read : read.document;
      const published = own.map((one) => toLsp(one, { uri, file }));
      this.diagnostics.set(uri, { own, published });
      this.published.set(uri, read);
      this.send({ uri, version: read.version, diagnostics: published });
      this.options.onDocuments?.(this.open());
      if ("loaded" in read) this.options.rescoring?.update(read, this.editor.trusted);
    } catch (error) {
      this.connection.console.error(`diagnostics: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** Of a notebook to its cells. */
  private send(params: PublishDiagnosticsParams): void {
    for (const one of this.notebooks.published(params.uri, params.diagnostics) ?? [params])
      void this.connection.sendDiagnostics(one);
  }

  private ownDiagnostics(config: OpenConfig): readonly Diagnostic[] {
    const seen = evidenceDiagnostics(this.options.evidence, config, this.editor.lenses);
    return [...config.loaded.diagnostics, ...seen];
  }

  private open(): { file: string; files: readonly string[] }[] {
    return [...this.published.values()].flatMap((read) =>
      "loaded" in read
        ? { file: read.file, files: [...read.loaded.files, ...rewardFiles(read.loaded.tree)] }
        : [],
    );
  }

  private close(uri: string): void {
    const handle = this.pending.get(uri);
    if (handle !== undefined) clearImmediate(handle);
    this.pending.delete(uri);
    const config = this.published.get(uri);
    if (config !== undefined && "loaded" in config) this.options.rescoring?.forget(config.file);
    this.configs.forget(uri);
    this.frameworkFiles.forget(uri);
    this.clear(uri);
  }

  /** Of a document that is closed, or is no configuration any more. */
  private clear(uri: string): void {
    this.diagnostics.delete(uri);
    this.outdated.delete(uri);
    if (!this.published.delete(uri)) return;
    this.send({ uri, diagnostics: [] });
    this.options.onDocuments?.(this.open());
  }
}

/** A reward's values change with its file. */
function rewardFiles(tree: JsonObject): readonly string[] {
  const terms = valueAt(tree, ["reward", "terms"]);
  return Object.values(isObject(terms) ? terms : {}).flatMap((term) => {
    const use = isObject(term) ? term["use"] : undefined;
    return typeof use === "string" ? (fileReference(use)?.path ?? []) : [];
  });
}

function editorCapabilities({
  initializationOptions,
  workspaceFolders,
  rootUri,
  capabilities,
}: InitializeParams): EditorCapabilities {
  const options: unknown = initializationOptions;
  const asked = (name: string): boolean =>
    typeof options === "object" && options !== null && Reflect.get(options, name) === true;
  const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri === null ? [] : [rootUri]);
  return {
    lenses: asked("codeLens"),
    suggest: asked("suggest"),
    drawsRun: asked("drawsRun"),
    trusted: asked("trusted"),
    client: capabilities,
    folders: uris.filter((uri) => uri.startsWith("file:")).map((uri) => pathOfAddress(uri)),
  };
}
