/** Stages, tasks, reward terms and models of every config in the open folders, by name. */
import { SymbolKind, type WorkspaceSymbol } from "vscode-languageserver";
import type { ConfigFile } from "./names/configFiles.ts";
import { isPolicy } from "./names/symbol.ts";
import { words, type NameKind } from "./names/naming.ts";

const kinds: Readonly<Record<NameKind, SymbolKind>> = {
  stage: SymbolKind.Event,
  task: SymbolKind.Class,
  term: SymbolKind.Variable,
  model: SymbolKind.Struct,
  head: SymbolKind.Property,
};

/** More than a person looks through; the rest comes with a longer query. */
const most = 500;

export function workspaceSymbols(files: readonly ConfigFile[], query: string): WorkspaceSymbol[] {
  return files
    .filter(({ preset }) => !preset)
    .flatMap((file) =>
      file.names.occurrences
        .filter((one) => one.role === "declaration" && !isPolicy(one) && matches(one.name, query))
        .map(({ kind, name, range }): WorkspaceSymbol => ({
          name,
          kind: kinds[kind],
          location: { uri: file.uri, range },
          containerName: words[kind],
        })),
    )
    .slice(0, most);
}

/** Its letters in their order: what editors filter by afterwards. */
function matches(name: string, query: string): boolean {
  const text = name.toLowerCase();
  let at = 0;
  for (const letter of query.toLowerCase().replaceAll(/\s/g, "")) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
