import type { Feature } from "../feature.ts";
import { formatting as edits } from "../format/index.ts";

export const formatting: Feature = {
  capabilities: () => ({ documentFormattingProvider: true, documentRangeFormattingProvider: true }),
  provide: ({ connection, config, guarded }) => {
    connection.onDocumentFormatting(
      guarded("formatting", null, ({ textDocument: { uri } }) => {
        const open = config(uri);
        return open === undefined ? null : edits(uri, open.text);
      }),
    );
    connection.onDocumentRangeFormatting(
      guarded("formatting", null, ({ textDocument: { uri }, range }) => {
        const open = config(uri);
        return open === undefined ? null : edits(uri, open.text, range);
      }),
    );
  },
};
