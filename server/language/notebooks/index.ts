/** Notebooks for features that know none: each is a document, the module of its cells, under its own URI. */
import type { Connection, Diagnostic, Disposable, PublishDiagnosticsParams } from "vscode-languageserver";
import type { CellModule } from "./cellModule.ts";
import { OpenNotebooks, type NotebookListener } from "./openNotebooks.ts";
import { askedOf, inCells, inModule } from "./translate.ts";

export { notebookSync } from "./openNotebooks.ts";

export class Notebooks {
  private readonly open = new OpenNotebooks();
  /** By the notebook's URI, the cells that the editor shows diagnostics of. */
  private readonly marked = new Map<string, ReadonlySet<string>>();

  get uris(): readonly string[] {
    return this.open.uris;
  }

  module(uri: string): CellModule | undefined {
    return this.open.module(uri);
  }

  listen(connection: Connection, listener: NotebookListener): Disposable[] {
    return this.open.listen(connection, listener);
  }

  /** A handler that is asked of the module where the editor asks of a cell. */
  answering<Params, Result>(
    fallback: Result,
    handle: (params: Params) => Result | Promise<Result>,
  ): (params: Params) => Result | Promise<Result> {
    return async (params) => {
      const cell = askedOf(params);
      const module = cell === undefined ? undefined : this.open.around(cell);
      if (cell === undefined || module === undefined) return handle(params);
      const asked = inModule(params, module, cell);
      return asked === undefined ? fallback : (inCells(await handle(asked), module, cell) ?? fallback);
    };
  }

  /** What is to be sent of a notebook's diagnostics; undefined: the document is none. */
  published(uri: string, diagnostics: Diagnostic[]): PublishDiagnosticsParams[] | undefined {
    const module = this.module(uri);
    const before = this.marked.get(uri);
    if (module === undefined && before === undefined) return undefined;
    const found = (module?.cells ?? []).flatMap(({ uri: cell, document }): PublishDiagnosticsParams[] => {
      const own = module === undefined ? [] : (inCells(diagnostics, module, cell) ?? []);
      return own.length === 0 ? [] : [{ uri: cell, version: document?.version ?? 0, diagnostics: own }];
    });
    const marked = new Set(found.map((one) => one.uri));
    if (module === undefined) this.marked.delete(uri);
    else this.marked.set(uri, marked);
    const clean = [...(before ?? [])].filter((cell) => !marked.has(cell));
    return [...found, ...clean.map((cell) => ({ uri: cell, diagnostics: [] }))];
  }
}
