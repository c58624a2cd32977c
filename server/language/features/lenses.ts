import type { Feature } from "../feature.ts";
import { refresh } from "./evidence.ts";
import { forecastLenses } from "./forecast.ts";
import { chartLenses, judgeLenses, runLenses } from "../lenses.ts";
import { configFilesOf } from "../names/configFiles.ts";

export const lenses: Feature = {
  capabilities: ({ lenses }) => (lenses ? { codeLensProvider: { resolveProvider: false } } : {}),
  provide: (context) =>
    context.connection.onCodeLens(
      context.guarded("lenses", [], ({ textDocument }) => {
        const open = context.config(textDocument.uri);
        const { lenses: wanted, drawsRun } = context.editor();
        if (open === undefined || !wanted) return [];
        const last = context.evidence?.lastRun?.(open.file);
        const metrics = configFilesOf(context).get(open.file)?.names.metrics ?? [];
        return [
          ...(drawsRun ? [] : runLenses(open, last)),
          ...(last === undefined ? [] : chartLenses(metrics, open)),
          // Its command is the extension's own.
          ...(last === undefined || !drawsRun ? [] : judgeLenses(open, last)),
          ...forecastLenses(open, () => void refresh(context)),
        ];
      }),
    ),
};
