/** A notebook as an editor has it open: sent to a server by cells, edited, and asked what is shown. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  CodeActionRequest,
  DidChangeNotebookDocumentNotification,
  DidCloseNotebookDocumentNotification,
  DidOpenNotebookDocumentNotification,
  NotebookCellKind,
  type Diagnostic,
  type NotebookCell,
  type NotebookDocumentChangeEvent,
  type Position,
  type TextDocumentItem,
} from "vscode-languageserver-protocol/node";
import type { LanguageServer } from "./lspServer.ts";

/** A text that begins with `#md` is a cell of text, one that begins with `%%sql` one of another language. */
const languageOf = (text: string): string =>
  text.startsWith("#md") ? "markdown" : text.startsWith("%%sql") ? "sql" : "python";

export class OpenNotebook {
  readonly uri: string;
  private readonly cells: TextDocumentItem[] = [];
  private version = 1;
  private made = 0;

  constructor(
    private readonly server: LanguageServer,
    folder: string,
    name: string,
    texts: readonly string[],
  ) {
    this.uri = pathToFileURL(join(folder, name)).href;
    this.cells.push(...texts.map((text) => this.cell(text)));
  }

  /** @param number counted from 1 */
  cellUri(number: number): string {
    return this.cells[number - 1]?.uri ?? "";
  }

  private cell(text: string): TextDocumentItem {
    this.made += 1;
    const uri = `${this.uri.replace("file:", "vscode-notebook-cell:")}#W${this.made}sZmlsZQ%3D%3D`;
    return { uri, languageId: languageOf(text), version: 1, text };
  }

  async open(): Promise<void> {
    await this.server.connection.sendNotification(DidOpenNotebookDocumentNotification.type, {
      notebookDocument: {
        uri: this.uri,
        notebookType: "jupyter-notebook",
        version: this.version,
        cells: this.cells.map(asCell),
      },
      cellTextDocuments: this.cells,
    });
  }

  async close(): Promise<void> {
    await this.server.connection.sendNotification(DidCloseNotebookDocumentNotification.type, {
      notebookDocument: { uri: this.uri },
      cellTextDocuments: this.cells.map(({ uri }) => ({ uri })),
    });
    // Answered in the order of arrival: what closing clears has been published before.
    await this.server.hover({ line: 0, character: 0 });
  }

  /** As one types: the first place of `before` becomes `after`. */
  async type(number: number, before: string, after: string): Promise<void> {
    const cell = this.cells[number - 1]!;
    const at = cell.text.indexOf(before);
    const range = { start: position(cell.text, at), end: position(cell.text, at + before.length) };
    cell.text = cell.text.replace(before, after);
    cell.version += 1;
    await this.change({
      textContent: [
        { document: { uri: cell.uri, version: cell.version }, changes: [{ range, text: after }] },
      ],
    });
  }

  /** Puts other cells in the place of some; those that only move keep their texts. */
  async splice(start: number, deleteCount: number, added: readonly (string | number)[]): Promise<void> {
    const cells = added.map((one) => (typeof one === "number" ? this.cells[one - 1]! : this.cell(one)));
    const removed = this.cells.splice(start - 1, deleteCount, ...cells);
    await this.change({
      structure: {
        array: { start: start - 1, deleteCount, cells: cells.map(asCell) },
        didOpen: cells.filter((cell) => !removed.includes(cell)),
        didClose: removed.filter((cell) => !cells.includes(cell)).map(({ uri }) => ({ uri })),
      },
    });
  }

  /** A cell of text becomes code: its properties change, and its language by closing and opening it. */
  async turnToCode(number: number): Promise<void> {
    const cell = this.cells[number - 1]!;
    const { uri } = cell;
    cell.languageId = "python";
    const array = { start: number - 1, deleteCount: 1 };
    await this.change({ structure: { array, didClose: [{ uri }] } });
    await this.change({
      structure: { array: { ...array, deleteCount: 0, cells: [asCell(cell)] }, didOpen: [cell] },
    });
  }

  async ran(number: number): Promise<void> {
    const cell = {
      ...asCell(this.cells[number - 1]!),
      executionSummary: { executionOrder: 1, success: true },
    };
    await this.change({ data: [cell] });
  }

  private async change(cells: NotebookDocumentChangeEvent["cells"]): Promise<void> {
    this.version += 1;
    await this.server.connection.sendNotification(DidChangeNotebookDocumentNotification.type, {
      notebookDocument: { uri: this.uri, version: this.version },
      change: { ...(cells && { cells }) },
    });
  }

  /**
   * What an editor shows now, as `cell:line rule`. A request for actions checks the text as it is, and its diagnostics come
   * before its answer.
   * @param asked a cell of Python
   */
  async shown(
    asked = this.cells.findIndex(({ languageId }) => languageId === "python") + 1,
  ): Promise<string[]> {
    const start = { line: 0, character: 0 };
    await this.server.connection.sendRequest(CodeActionRequest.type, {
      textDocument: { uri: this.cellUri(asked) },
      range: { start, end: start },
      context: { diagnostics: [] },
    });
    const places = this.cells.map(({ uri }, at) => ({ uri, name: String(at + 1) }));
    const own = this.uri.replace("file:", "vscode-notebook-cell:");
    const gone = this.server.published.filter(
      ({ uri }) => uri.startsWith(own) && !this.cells.some((cell) => cell.uri === uri),
    );
    return [...places, ...gone.map(({ uri }) => ({ uri, name: uri }))].flatMap(({ uri, name }) =>
      this.of(uri).map(({ code, range }) => `${name}:${range.start.line + 1} ${code ?? ""}`),
    );
  }

  /** The last that was published. */
  of(uri: string): Diagnostic[] {
    return this.server.published.findLast((params) => params.uri === uri)?.diagnostics ?? [];
  }
}

function position(text: string, offset: number): Position {
  const head = text.slice(0, offset).split(/\r\n|\n/);
  return { line: head.length - 1, character: head.at(-1)?.length ?? 0 };
}

const asCell = ({ uri, languageId }: TextDocumentItem): NotebookCell => ({
  kind: languageId === "markdown" ? NotebookCellKind.Markup : NotebookCellKind.Code,
  document: uri,
});
