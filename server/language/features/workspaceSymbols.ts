import type { Feature } from "../feature.ts";
import { configFilesOf } from "../names/configFiles.ts";
import { workspaceSymbols as symbolsOf } from "../workspaceSymbols.ts";

export const workspaceSymbols: Feature = {
  capabilities: () => ({ workspaceSymbolProvider: { resolveProvider: false } }),
  provide: (context) =>
    context.connection.onWorkspaceSymbol(
      context.guarded("workspaceSymbols", null, async ({ query }) =>
        symbolsOf(await configFilesOf(context).all(), query),
      ),
    ),
};
