/** Quick fixes of the diagnostics in a range, and all preferred fixes at once. */
import { CodeActionKind, type CodeAction, type Diagnostic as LspDiagnostic } from "vscode-languageserver";
import type { Range } from "../lib/lines.ts";
import type { Diagnostic, TextEdit } from "../config/check/diagnostic.ts";
import { fixAll, preferredFixes } from "../rules/fixAll.ts";
import { touch, wholeEdit } from "../config/text/textEdits.ts";

/** `source.fixAll`, by the name under which an editor can ask for ours alone. */
export const fixAllKind = `${CodeActionKind.SourceFixAll}.gradus`;

export interface CodeActionRequest {
  readonly uri: string;
  readonly range: Range;
  /** Kinds that the editor wants; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** A Gradus config, whose fixes may reveal other diagnostics; undefined: each fix is applied as it is. */
  readonly config: { readonly file: string; readonly text: string } | undefined;
}

export function actions(
  diagnostics: readonly Diagnostic[],
  shown: readonly LspDiagnostic[],
  request: CodeActionRequest,
): CodeAction[] {
  const wants = (kind: string): boolean =>
    request.only === undefined || request.only.some((one) => kind === one || kind.startsWith(`${one}.`));
  return [
    ...(wants(CodeActionKind.QuickFix) ? quickFixes(diagnostics, shown, request) : []),
    ...(wants(fixAllKind) ? everything(diagnostics, request) : []),
  ];
}

function quickFixes(
  findings: readonly Diagnostic[],
  shown: readonly LspDiagnostic[],
  { uri, range }: CodeActionRequest,
): CodeAction[] {
  return findings.flatMap((finding, index) =>
    touch(finding.range, range)
      ? finding.fixes.map(({ title, edits, preferred }) => ({
          title,
          kind: CodeActionKind.QuickFix,
          diagnostics: shown[index] === undefined ? [] : [shown[index]],
          isPreferred:
            preferred === true && finding.fixes.filter((fix) => fix.preferred === true).length === 1,
          edit: { changes: { [uri]: [...edits] } },
        }))
      : [],
  );
}

function everything(findings: readonly Diagnostic[], { uri, config }: CodeActionRequest): CodeAction[] {
  const chosen = preferredFixes(findings);
  if (chosen.length === 0) return [];
  const edits: readonly TextEdit[] =
    config === undefined
      ? chosen.flatMap(({ edits }) => edits)
      : wholeEdit(config.text, fixAll(config.file, config.text));
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
