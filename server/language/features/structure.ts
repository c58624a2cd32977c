/** The document's structure: symbols and folds. */
import type { Feature } from "../feature.ts";
import { folds, symbols as symbolsOf } from "../outline.ts";

export const symbols: Feature = {
  capabilities: () => ({ documentSymbolProvider: true }),
  provide: ({ connection, config, guarded }) =>
    connection.onDocumentSymbol(
      guarded("symbols", [], ({ textDocument }) => {
        const root = config(textDocument.uri)?.root;
        return root === undefined ? [] : symbolsOf(root);
      }),
    ),
};

export const folding: Feature = {
  capabilities: () => ({ foldingRangeProvider: true }),
  provide: ({ connection, config, guarded }) =>
    connection.onFoldingRanges(
      guarded("folds", [], ({ textDocument }) => {
        const open = config(textDocument.uri);
        return open === undefined ? [] : folds(open.root, open.text);
      }),
    ),
};
