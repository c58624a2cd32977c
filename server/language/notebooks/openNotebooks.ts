/** The notebooks that an editor has open, with the text of each cell as it is now. */
import {
  NotebookCellKind,
  type Connection,
  type DidChangeNotebookDocumentParams,
  type Disposable,
  type NotebookCell,
  type TextDocumentItem,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import { CellModule } from "./cellModule.ts";

/** What is sent to us: of every cell, so that their numbers are those that a person counts. */
export const notebookSync = { notebookSelector: [{ notebook: "jupyter-notebook" }], save: true };

export interface NotebookListener {
  /** @param uri the notebook's own */
  changed(uri: string): void;
  saved(uri: string): void;
  closed(uri: string): void;
}

interface OpenNotebook {
  readonly cells: NotebookCell[];
  /** By the cell's URI. */
  readonly texts: Map<string, TextDocument>;
  /** Counts what arrives: also of an editor that does not. */
  version: number;
  /** Of this version, once it is asked for. */
  module?: CellModule;
}

export class OpenNotebooks {
  private readonly open = new Map<string, OpenNotebook>();
  private versions = 0;

  get uris(): readonly string[] {
    return [...this.open.keys()];
  }

  /** @param uri the notebook's */
  module(uri: string): CellModule | undefined {
    const notebook = this.open.get(uri);
    if (notebook === undefined) return undefined;
    notebook.module ??= new CellModule(
      uri,
      notebook.version,
      notebook.cells.map((cell) => ({ uri: cell.document, document: codeOf(cell, notebook.texts) })),
    );
    return notebook.module;
  }

  /** The module of the notebook that a cell is in. */
  around(cell: string): CellModule | undefined {
    for (const [uri, { texts }] of this.open) if (texts.has(cell)) return this.module(uri);
    return undefined;
  }

  listen({ notebooks: { synchronization: sync } }: Connection, listener: NotebookListener): Disposable[] {
    return [
      sync.onDidOpenNotebookDocument(({ notebookDocument: { uri, cells }, cellTextDocuments }) => {
        const texts = new Map(cellTextDocuments.map((item) => [item.uri, documentOf(item)]));
        this.open.set(uri, { cells: [...cells], texts, version: ++this.versions });
        listener.changed(uri);
      }),
      sync.onDidChangeNotebookDocument(({ notebookDocument: { uri }, change }) => {
        const notebook = this.open.get(uri);
        if (notebook === undefined || change.cells === undefined || !apply(notebook, change.cells)) return;
        notebook.version = ++this.versions;
        delete notebook.module;
        listener.changed(uri);
      }),
      sync.onDidSaveNotebookDocument(({ notebookDocument: { uri } }) => listener.saved(uri)),
      sync.onDidCloseNotebookDocument(({ notebookDocument: { uri } }) => {
        if (this.open.delete(uri)) listener.closed(uri);
      }),
    ];
  }
}

const documentOf = ({ uri, languageId, version, text }: TextDocumentItem): TextDocument =>
  TextDocument.create(uri, languageId, version, text);

function codeOf(
  { kind, document }: NotebookCell,
  texts: ReadonlyMap<string, TextDocument>,
): TextDocument | undefined {
  const text = texts.get(document);
  return kind === NotebookCellKind.Code && text?.languageId === "python" ? text : undefined;
}

type CellChanges = NonNullable<DidChangeNotebookDocumentParams["change"]["cells"]>;

/**
 * In the order in which the protocol says that they happened.
 * @returns whether the module may be another: not where cells merely ran
 */
function apply({ cells, texts }: OpenNotebook, { structure, data = [], textContent }: CellChanges): boolean {
  if (structure !== undefined) {
    const { start, deleteCount, cells: added = [] } = structure.array;
    cells.splice(start, deleteCount, ...added);
    // A cell whose language changes is closed and opened at once.
    for (const { uri } of structure.didClose ?? []) texts.delete(uri);
    for (const item of structure.didOpen ?? []) texts.set(item.uri, documentOf(item));
  }
  const turned = data.filter((changed) => turn(cells, changed));
  for (const { document, changes } of textContent ?? []) {
    const text = texts.get(document.uri);
    if (text !== undefined) texts.set(document.uri, TextDocument.update(text, changes, document.version));
  }
  return structure !== undefined || textContent !== undefined || turned.length > 0;
}

/** @returns whether text became code, or code text */
function turn(cells: NotebookCell[], changed: NotebookCell): boolean {
  const at = cells.findIndex(({ document }) => document === changed.document);
  const isTurned = at >= 0 && cells[at]?.kind !== changed.kind;
  if (isTurned) cells[at] = changed;
  return isTurned;
}
