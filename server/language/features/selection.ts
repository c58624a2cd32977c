import type { Feature } from "../feature.ts";
import { selectionAt } from "../selection.ts";

export const selection: Feature = {
  capabilities: () => ({ selectionRangeProvider: true }),
  provide: ({ connection, config, guarded }) =>
    connection.onSelectionRanges(
      guarded("selection", null, ({ textDocument, positions }) => {
        const open = config(textDocument.uri);
        return open === undefined ? null : positions.map((at) => selectionAt(open.root, open.text, at));
      }),
    ),
};
