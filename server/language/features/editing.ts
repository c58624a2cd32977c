/** Completion and quick fixes. */
import { CodeActionKind, type CompletionItem } from "vscode-languageserver";
import { frameworkCompletions } from "../../frameworks/use/assist/completion.ts";
import { actions, fixAllKind } from "../actions.ts";
import { completionsAt, type Completions } from "../completion/completion.ts";
import type { Feature } from "../feature.ts";
import { isObject } from "../../analysis/evidence/json.ts";
import { evidenceActions } from "./evidence.ts";
import { rescoreActions } from "./rescore.ts";

export const completion: Feature = {
  capabilities: () => ({
    completionProvider: {
      triggerCharacters: [":", " ", "/", ",", "[", "{", "-", '"', "'", ".", "="],
      resolveProvider: true,
    },
  }),
  provide: ({ connection, config, frameworkFile, editor, guarded }) => {
    /** The last answer: an item's text is made when the editor shows it. */
    let last: Completions | undefined;
    connection.onCompletion(
      guarded("completion", [], ({ textDocument, position }) => {
        const open = config(textDocument.uri);
        if (open === undefined) {
          last = undefined;
          const other = frameworkFile(textDocument.uri);
          return other === undefined ? [] : frameworkCompletions(other.document, position);
        }
        const { client, suggest } = editor();
        const item = client.textDocument?.completion?.completionItem;
        const snippets = item?.snippetSupport === true;
        const described = item?.labelDetailsSupport === true;
        last = completionsAt({
          text: open.text,
          position,
          merged: open.whole.root,
          file: open.file,
          client: { snippets, suggest, described },
        });
        const { items, research } = last;
        return items.map((item, index) => ({ ...item, data: { index, research: research(index) } }));
      }),
    );
    connection.onCompletionResolve(async (item: CompletionItem) => {
      const resolve = guarded("completion text", item, () => {
        const index = isObject(item.data) ? item.data["index"] : undefined;
        const same = typeof index === "number" && last?.items[index]?.label === item.label;
        const documentation = same ? last?.says(index) : undefined;
        return documentation === undefined ? item : { ...item, documentation };
      });
      return resolve(undefined);
    });
  },
};

export const fixes: Feature = {
  capabilities: () => ({
    codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.Refactor, fixAllKind] },
  }),
  provide: (language) =>
    language.connection.onCodeAction(
      language.guarded("fixes", [], ({ textDocument: { uri }, range, context: { only } }) => {
        const { own, published } = language.diagnostics(uri);
        return [
          ...actions(own, published, { uri, range, only, config: language.config(uri) }),
          ...evidenceActions(language, own, range, only),
          ...rescoreActions(language, language.config(uri), range, only),
        ];
      }),
    ),
};
