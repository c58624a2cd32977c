/** What of the language server's answers is shown: hints and lenses by the person's settings. */
import { workspace, type Disposable, type TextDocument } from "vscode";
import {
  CodeLensRequest,
  InlayHintRequest,
  type LanguageClient,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import { language, settings } from "../../../shared/editor/contributions.ts";
import { pythonPath } from "./python.ts";
import { withoutResearch } from "./research.ts";
import { setting } from "../../vscode/settings.ts";

/** We have the commands that lenses run, and draw Run and Validate ourselves: also before there is a server. */
export const shownByUs = (): Pick<LanguageClientOptions, "initializationOptions" | "middleware"> => ({
  initializationOptions: {
    codeLens: true,
    drawsRun: true,
    suggest: true,
    trusted: workspace.isTrusted,
    pythonPath: pythonPath(),
  },
  middleware: {
    provideCompletionItem: async (document, position, context, token, next) =>
      withoutResearch(document, position, await next(document, position, context, token)),
    provideInlayHints: (document, range, token, next) =>
      setting("inlayHintsEnabled", true, document) ? next(document, range, token) : [],
    provideCodeLenses: (document, token, next) =>
      setting("codeLensEnabled", true, document) ? next(document, token) : [],
  },
});

/** A setting that changes shows at once, not with the next edit. */
export function followShown(client: LanguageClient): Disposable {
  const configs = (): readonly TextDocument[] =>
    workspace.textDocuments.filter(({ languageId }) => languageId === language.id);
  return workspace.onDidChangeConfiguration((event) => {
    for (const document of configs()) {
      if (event.affectsConfiguration(settings.inlayHintsEnabled, document))
        client.getFeature(InlayHintRequest.method)?.getProvider(document)?.onDidChangeInlayHints.fire();
      if (event.affectsConfiguration(settings.codeLensEnabled, document))
        client.getFeature(CodeLensRequest.method)?.getProvider(document)?.onDidChangeCodeLensEmitter.fire();
    }
  });
}
