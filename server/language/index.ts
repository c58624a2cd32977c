/** The language server: the same code in the daemon's connections and in `gradus lsp --stdio`. */
import { pathToFileURL } from "node:url";
import {
  CodeActionKind,
  DiagnosticSeverity,
  TextDocumentSyncKind,
  TextDocuments,
  type Connection,
  type Diagnostic as LspDiagnostic,
  type InitializeParams,
  type InitializeResult,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Diagnostic } from "../config/diagnostic.ts";
import { actions, fixAllKind } from "./actions.ts";
import { completions } from "./completion.ts";
import { OpenConfigs, isConfig, type OpenConfig } from "./documents.ts";
import type { Evidence } from "./evidence.ts";
import { guarded } from "./guard.ts";
import { memoryHint } from "./inlay.ts";
import { hoverAt } from "./hover.ts";
import { folds, lenses, symbols } from "./outline.ts";

export type { Evidence } from "./evidence.ts";
export { lensLine } from "./outline.ts";

export interface LanguageOptions {
  readonly evidence?: Evidence;
  /** Told after every check: the open configs' files with every file they read, for a watcher on disk. */
  readonly onDocuments?: (
    configs: readonly { readonly file: string; readonly files: readonly string[] }[],
  ) => void;
  readonly version?: string;
}

export interface AttachedLanguage {
  /** Checks the open configs again: a file that one of them read has changed on disk. */
  revalidate(): void;
  dispose(): void;
}

/** Wires the language features onto a connection. The caller creates it and calls `listen`. */
export function attachLanguage(connection: Connection, options: LanguageOptions = {}): AttachedLanguage {
  return new Language(connection, options);
}

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

class Language implements AttachedLanguage {
  private readonly documents = new TextDocuments(TextDocument);
  private readonly configs = new OpenConfigs();
  private readonly pending = new Map<string, NodeJS.Immediate>();
  private readonly findings = new Map<
    string,
    { readonly own: readonly Diagnostic[]; readonly shown: readonly LspDiagnostic[] }
  >();
  private readonly disposables: { dispose(): void }[] = [];
  private lenses = false;

  constructor(
    private readonly connection: Connection,
    private readonly options: LanguageOptions,
  ) {
    connection.onInitialize((params) => this.initialize(params));
    this.documents.onDidChangeContent(({ document }) => this.schedule(document.uri));
    this.documents.onDidClose(({ document }) => this.close(document.uri));
    this.documents.onDidSave(() => this.revalidate());
    connection.onDidChangeWatchedFiles(() => this.revalidate());
    this.provide();
    this.disposables.push(this.documents.listen(connection));
    const evidence = options.evidence?.onChange?.(() => this.revalidate());
    if (evidence !== undefined) this.disposables.push(evidence);
  }

  revalidate(): void {
    this.configs.stale();
    for (const { uri } of this.documents.all()) this.schedule(uri);
  }

  dispose(): void {
    for (const handle of this.pending.values()) clearImmediate(handle);
    this.pending.clear();
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
  }

  private initialize({ initializationOptions }: InitializeParams): InitializeResult {
    const wished: unknown = initializationOptions;
    this.lenses =
      typeof wished === "object" && wished !== null && "codeLens" in wished && wished.codeLens === true;
    return {
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        hoverProvider: true,
        completionProvider: { triggerCharacters: [":", " ", "/", ",", "[", "{"] },
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, fixAllKind] },
        documentSymbolProvider: true,
        foldingRangeProvider: true,
        inlayHintProvider: true,
        ...(this.lenses ? { codeLensProvider: { resolveProvider: false } } : {}),
      },
      serverInfo: {
        name: "gradus",
        ...(this.options.version === undefined ? {} : { version: this.options.version }),
      },
    };
  }

  private provide(): void {
    const { connection } = this;
    const log = (text: string): void => connection.console.error(text);
    connection.onHover(
      guarded("hover", null, log, ({ textDocument, position }) => {
        const config = this.config(textDocument.uri);
        return config?.root === undefined
          ? null
          : (hoverAt(config.root, position, config.whole, (key) =>
              this.options.evidence?.hover?.(config.file, key),
            ) ?? null);
      }),
    );
    connection.onCompletion(
      guarded("completion", [], log, ({ textDocument, position }) => {
        const config = this.config(textDocument.uri);
        return config === undefined ? [] : completions(config.text, position, config.whole.root);
      }),
    );
    connection.onCodeAction(
      guarded("fixes", [], log, ({ textDocument, range, context }) => {
        this.check(textDocument.uri);
        const { own = [], shown = [] } = this.findings.get(textDocument.uri) ?? {};
        return actions(textDocument.uri, own, shown, range, context.only);
      }),
    );
    connection.onDocumentSymbol(
      guarded("symbols", [], log, ({ textDocument }) => {
        const root = this.config(textDocument.uri)?.root;
        return root === undefined ? [] : symbols(root);
      }),
    );
    connection.onFoldingRanges(
      guarded("folds", [], log, ({ textDocument }) => {
        const config = this.config(textDocument.uri);
        return config === undefined ? [] : folds(config.root, config.text);
      }),
    );
    connection.languages.inlayHint.on(async ({ textDocument }) => {
      const config = this.config(textDocument.uri);
      return config === undefined ? [] : memoryHint(config);
    });
    connection.onCodeLens(
      guarded("lenses", [], log, ({ textDocument }) => {
        const config = this.config(textDocument.uri);
        return config === undefined || !this.lenses ? [] : lenses(config.root, config.uri);
      }),
    );
  }

  private config(uri: string): OpenConfig | undefined {
    const document = this.documents.get(uri);
    return document === undefined || !isConfig(document) ? undefined : this.configs.get(document);
  }

  /** Once all messages that have arrived are handled: a burst of changes is checked once. */
  private schedule(uri: string): void {
    if (this.pending.has(uri)) return;
    this.pending.set(
      uri,
      setImmediate(() => {
        this.pending.delete(uri);
        this.check(uri);
      }),
    );
  }

  private check(uri: string): void {
    const log = (text: string): void => this.connection.console.error(text);
    guarded("diagnostics", undefined, log, () => {
      const known = this.findings.get(uri);
      const config = this.config(uri);
      if (config === undefined) return undefined;
      const own = [
        ...config.loaded.diagnostics,
        ...(this.options.evidence?.diagnostics?.(config.file, config.text) ?? []),
      ];
      const shown = own.map(toLsp);
      this.findings.set(uri, { own, shown });
      if (known === undefined || this.published.get(uri) !== config)
        void this.connection.sendDiagnostics({ uri, version: config.version, diagnostics: shown });
      this.published.set(uri, config);
      this.options.onDocuments?.(this.open());
      return undefined;
    })(undefined);
  }

  private readonly published = new Map<string, OpenConfig>();

  private open(): { file: string; files: readonly string[] }[] {
    return [...this.published.values()].map(({ file, loaded }) => ({ file, files: loaded.files }));
  }

  private close(uri: string): void {
    const handle = this.pending.get(uri);
    if (handle !== undefined) clearImmediate(handle);
    this.pending.delete(uri);
    this.findings.delete(uri);
    this.configs.forget(uri);
    if (!this.published.delete(uri)) return;
    void this.connection.sendDiagnostics({ uri, diagnostics: [] });
    this.options.onDocuments?.(this.open());
  }
}

function toLsp({ severity, rule, message, range, related }: Diagnostic): LspDiagnostic {
  return {
    severity: severities[severity],
    code: rule,
    source: "gradus",
    message,
    range,
    ...(related === undefined
      ? {}
      : {
          relatedInformation: related.map((other) => ({
            location: { uri: pathToFileURL(other.file).href, range: other.range },
            message: other.message,
          })),
        }),
  };
}
