/** Quick fixes of the diagnostics in a range, and all preferred fixes at once. */
import { CodeActionKind, type CodeAction, type Diagnostic as LspDiagnostic } from "vscode-languageserver";
import type { Range } from "../lib/lines.ts";
import type { Diagnostic, TextEdit } from "../config/check/diagnostic.ts";
import { fixAll, preferredFixes, type Known } from "../rules/fixAll.ts";
import { touch, wholeEdit } from "../config/text/textEdits.ts";

/** `source.fixAll`, by the name under which an editor can ask for ours alone. */
export const fixAllKind = `${CodeActionKind.SourceFixAll}.gradus`;

export interface CodeActionRequest {
  readonly uri: string;
  readonly range: Range;
  /** Kinds that the editor wants; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** A Gradus config, whose fixes may reveal other diagnostics; undefined: each fix is applied as it is. */
  readonly config: { readonly file: string; readonly text: string; readonly known: Known } | undefined;
}

export function actions(
  diagnostics: readonly Diagnostic[],
  published: readonly LspDiagnostic[],
  request: CodeActionRequest,
): CodeAction[] {
  const wants = (kind: string): boolean =>
    request.only === undefined || request.only.some((one) => kind === one || kind.startsWith(`${one}.`));
  return [
    ...(wants(CodeActionKind.QuickFix) ? quickFixes(diagnostics, published, request) : []),
    ...(wants(fixAllKind) ? everything(diagnostics, request) : []),
  ];
}

function quickFixes(
  diagnostics: readonly Diagnostic[],
  published: readonly LspDiagnostic[],
  { uri, range }: CodeActionRequest,
): CodeAction[] {
  return diagnostics.flatMap((diagnostic, index) =>
    touch(diagnostic.range, range)
      ? diagnostic.fixes.map(({ title, edits, preferred }) => ({
          title,
          kind: CodeActionKind.QuickFix,
          diagnostics: published[index] === undefined ? [] : [published[index]],
          isPreferred:
            preferred === true && diagnostic.fixes.filter((fix) => fix.preferred === true).length === 1,
          edit: { changes: { [uri]: [...edits] } },
        }))
      : [],
  );
}

function everything(diagnostics: readonly Diagnostic[], { uri, config }: CodeActionRequest): CodeAction[] {
  const chosen = preferredFixes(diagnostics);
  if (chosen.length === 0) return [];
  const edits: readonly TextEdit[] =
    config === undefined
      ? chosen.flatMap(({ edits }) => edits)
      : wholeEdit(config.text, fixAll(config.file, config.text, config.known));
  return edits.length === 0
    ? []
    : [
        {
          title: "Fix all problems with a single fix",
          kind: fixAllKind,
          edit: { changes: { [uri]: [...edits] } },
        },
      ];
}
