/** Documents of rollouts in an editor: folding, outline and colour of what a pure module has written. */
import {
  DocumentSymbol,
  FoldingRange,
  Range,
  SymbolKind,
  TabInputText,
  TabInputTextDiff,
  ThemeColor,
  commands as editor,
  languages,
  window,
  workspace,
  type CodeLens,
  type Disposable,
  type DocumentLink,
  type Hover,
  type Position,
  type TextDocument,
  type TextDocumentContentProvider,
  type TextEditor,
  type Uri,
} from "vscode";
import type { Heading, Sign, Written } from "./writer.ts";

const dim = new ThemeColor("descriptionForeground");
const styles = {
  // As in the panel: red is for what is wrong, which a negative number is not. The themes' own blue and orange
  // cannot be read as text on white, and under high contrast their orange is blue or brown.
  positive: { color: new ThemeColor("charts.blue"), light: { color: "#0a62b8" } },
  negative: { color: "#e09a3e", light: { color: "#9a5b00" } },
  error: { color: new ThemeColor("charts.red") },
  given: { color: dim, fontStyle: "italic" },
  quiet: { color: dim },
  heading: { fontWeight: "bold" },
} as const satisfies Readonly<Record<Sign, object>>;
const signs = ["positive", "negative", "error", "given", "quiet", "heading"] as const;

/** What a kind of document has besides its text. */
interface Providers {
  readonly content: TextDocumentContentProvider;
  readonly lenses: (document: TextDocument) => CodeLens[];
  readonly links: (document: TextDocument) => DocumentLink[];
  readonly hover?: (document: TextDocument, position: Position) => Promise<Hover> | undefined;
}

export class Surface<Document extends Written> implements Disposable {
  readonly #documents = new Map<string, Document>();
  readonly #styles = new Map(
    signs.map((sign) => [sign, window.createTextEditorDecorationType(styles[sign])]),
  );
  /** Whose prompts have been folded: what a person opens stays open. */
  readonly #folded = new Set<string>();
  readonly #disposables: Disposable[];

  constructor(
    private readonly scheme: string,
    { content, lenses, links, hover }: Providers,
  ) {
    const selector = { scheme };
    this.#disposables = [
      workspace.registerTextDocumentContentProvider(scheme, content),
      languages.registerCodeLensProvider(selector, { provideCodeLenses: lenses }),
      languages.registerDocumentLinkProvider(selector, { provideDocumentLinks: links }),
      ...(hover === undefined ? [] : [languages.registerHoverProvider(selector, { provideHover: hover })]),
      languages.registerFoldingRangeProvider(selector, {
        provideFoldingRanges: (document) =>
          (this.of(document)?.folds ?? []).map(({ from, to }) => new FoldingRange(from, to)),
      }),
      languages.registerDocumentSymbolProvider(selector, {
        provideDocumentSymbols: (document) =>
          (this.of(document)?.headings ?? []).map((heading) => symbolOf(document, heading, SymbolKind.Array)),
      }),
      window.onDidChangeVisibleTextEditors((editors) => editors.forEach((one) => this.#paint(one))),
      window.onDidChangeActiveTextEditor((active) => active && void this.#close(active)),
      window.tabGroups.onDidChangeTabs(() => this.#forget()),
      workspace.onDidChangeTextDocument(({ document }) =>
        window.visibleTextEditors
          .filter((one) => one.document === document)
          .forEach((one) => this.#paint(one)),
      ),
      workspace.onDidCloseTextDocument((document) => this.#documents.delete(document.uri.toString())),
      ...this.#styles.values(),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  of({ uri }: { readonly uri: Uri }): Document | undefined {
    return this.#documents.get(uri.toString());
  }
  set(uri: Uri, document: Document): void {
    this.#documents.set(uri.toString(), document);
  }

  /** What is no longer in a tab is folded again when it is opened: a preview that is replaced is not closed. */
  #forget(): void {
    const open = new Set(
      window.tabGroups.all
        .flatMap(({ tabs }) => tabs.map(({ input }) => input))
        .flatMap((input) =>
          input instanceof TabInputText
            ? [input.uri.toString()]
            : input instanceof TabInputTextDiff
              ? [input.original.toString(), input.modified.toString()]
              : [],
        ),
    );
    for (const key of this.#folded) if (!open.has(key)) this.#folded.delete(key);
  }

  #paint(shown: TextEditor): void {
    const document = shown.document.uri.scheme === this.scheme ? this.of(shown.document) : undefined;
    if (document === undefined) return;
    for (const [sign, style] of this.#styles)
      shown.setDecorations(
        style,
        document.marks
          .filter((mark) => mark.sign === sign)
          .map((mark) => new Range(mark.line, mark.from, mark.line, mark.to)),
      );
  }

  /** Folds what is long and not what a person came for. Only the active editor can be told to. */
  async #close({ document }: TextEditor): Promise<void> {
    const key = document.uri.toString();
    const closed = this.of(document)?.folds.filter((fold) => fold.closed === true) ?? [];
    if (document.uri.scheme !== this.scheme || this.#folded.has(key) || closed.length === 0) return;
    this.#folded.add(key);
    await editor.executeCommand("editor.fold", { selectionLines: closed.map(({ from }) => from) });
  }
}

function symbolOf(document: TextDocument, heading: Heading, kind: SymbolKind): DocumentSymbol {
  const { line, end, name, detail, children } = heading;
  const last = document.lineAt(Math.min(end, document.lineCount - 1));
  const whole = new Range(line, 0, last.lineNumber, last.text.length);
  const made = new DocumentSymbol(name, detail, kind, whole, document.lineAt(line).range);
  made.children = children.map((child) => symbolOf(document, child, SymbolKind.String));
  return made;
}
