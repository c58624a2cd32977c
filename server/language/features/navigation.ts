/** From a name to its declaration, and to everywhere else that it is used. */
import {
  DocumentHighlightKind,
  LSPErrorCodes,
  ResponseError,
  type DocumentHighlight,
  type Location,
} from "vscode-languageserver";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Feature, LanguageContext } from "../feature.ts";
import { configFilesOf, type ConfigFile } from "../names/configFiles.ts";
import { renameable, renames } from "../names/rename.ts";
import { declarations, everywhere, isSame, occurrenceAt } from "../names/symbol.ts";
import { definitions } from "../navigation/definition.ts";
import { documentLinks } from "../navigation/documentLinks.ts";

/** The open document as the index of names knows it. */
function fileAt(context: LanguageContext, uri: string): ConfigFile | undefined {
  const open = context.config(uri);
  return open === undefined ? undefined : configFilesOf(context).get(open.file);
}

export const definition: Feature = {
  capabilities: () => ({ definitionProvider: true }),
  provide: (context) =>
    context.connection.onDefinition(
      context.guarded("definition", null, ({ textDocument, position }) => {
        const open = context.config(textDocument.uri);
        return open === undefined ? null : definitions(configFilesOf(context), open, position);
      }),
    ),
};

export const references: Feature = {
  capabilities: () => ({ referencesProvider: true }),
  provide: (context) =>
    context.connection.onReferences(
      context.guarded(
        "references",
        null,
        async ({ textDocument, position, context: { includeDeclaration } }) => {
          const file = fileAt(context, textDocument.uri);
          const symbol = file === undefined ? undefined : occurrenceAt(file, position);
          if (file === undefined || symbol === undefined) return null;
          const files = configFilesOf(context);
          const declared = new Set(
            declarations(files, file.file, symbol).map(({ occurrence }) => occurrence),
          );
          const places = await everywhere(files, file.file, symbol);
          return places
            .filter(({ occurrence }) => includeDeclaration || !declared.has(occurrence))
            .map(({ file: one, occurrence }): Location => ({ uri: one.uri, range: occurrence.range }));
        },
      ),
    ),
};

export const highlights: Feature = {
  capabilities: () => ({ documentHighlightProvider: true }),
  provide: (context) =>
    context.connection.onDocumentHighlight(
      context.guarded("highlights", null, ({ textDocument, position }) => {
        const file = fileAt(context, textDocument.uri);
        const symbol = file === undefined ? undefined : occurrenceAt(file, position);
        if (file === undefined || symbol === undefined) return null;
        return file.names.occurrences
          .filter((other) => isSame(other, symbol))
          .map(({ range, role }): DocumentHighlight => ({
            range,
            kind: role === "reference" ? DocumentHighlightKind.Read : DocumentHighlightKind.Write,
          }));
      }),
    ),
};

export const rename: Feature = {
  capabilities: () => ({ renameProvider: { prepareProvider: true } }),
  provide: (context) => {
    const { connection, guarded } = context;
    connection.onPrepareRename(
      guarded("prepareRename", null, ({ textDocument, position }) =>
        answered(context, textDocument.uri, (file) => {
          const { range, name } = renameable(configFilesOf(context), file, position);
          return { range, placeholder: name };
        }),
      ),
    );
    connection.onRenameRequest(
      guarded("rename", null, ({ textDocument, position, newName }) =>
        answered(context, textDocument.uri, async (file) => ({
          changes: await renames(configFilesOf(context), file, position, newName),
        })),
      ),
    );
  },
};

/** A refusal is an answer: the editor shows it where the person typed. */
async function answered<Result>(
  context: LanguageContext,
  uri: string,
  act: (file: ConfigFile) => Result | Promise<Result>,
): Promise<Result | ResponseError | null> {
  const file = fileAt(context, uri);
  if (file === undefined) return null;
  try {
    return await act(file);
  } catch (error) {
    if (error instanceof UserError) return new ResponseError(LSPErrorCodes.RequestFailed, error.message);
    throw error;
  }
}

export const links: Feature = {
  capabilities: () => ({ documentLinkProvider: { resolveProvider: false } }),
  provide: (context) =>
    context.connection.onDocumentLinks(
      context.guarded("links", null, ({ textDocument }) => {
        const open = context.config(textDocument.uri);
        const file = fileAt(context, textDocument.uri);
        return open === undefined || file === undefined ? null : documentLinks(file, open.whole.root);
      }),
    ),
};
