import type { Range, SemanticTokens } from "vscode-languageserver";
import type { Feature, LanguageContext } from "../feature.ts";
import { configFilesOf } from "../names/configFiles.ts";
import { legend, semanticTokens } from "../semanticTokens.ts";

export const tokens: Feature = {
  capabilities: () => ({ semanticTokensProvider: { legend, full: true, range: true } }),
  provide: (context) => {
    const { connection, guarded } = context;
    const nothing: SemanticTokens = { data: [] };
    connection.languages.semanticTokens.on(
      guarded(
        "semanticTokens",
        nothing,
        ({ textDocument }) => tokensAt(context, textDocument.uri) ?? nothing,
      ),
    );
    connection.languages.semanticTokens.onRange(
      guarded(
        "semanticTokens",
        nothing,
        ({ textDocument, range }) => tokensAt(context, textDocument.uri, range) ?? nothing,
      ),
    );
  },
};

function tokensAt(context: LanguageContext, uri: string, within?: Range): SemanticTokens | undefined {
  const open = context.config(uri);
  const file = open === undefined ? undefined : configFilesOf(context).get(open.file);
  if (open === undefined || file === undefined) return undefined;
  return semanticTokens({ ...file, merged: open.whole.root }, within);
}
