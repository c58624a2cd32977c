/** Quick fixes of the findings in a range, and everything that has one sensible mend at once. */
import { CodeActionKind, type CodeAction, type Diagnostic as LspDiagnostic } from "vscode-languageserver";
import type { Range } from "../lib/lines.ts";
import type { Diagnostic, TextEdit } from "../config/check/diagnostic.ts";
import { mendAll, sensible } from "../rules/mendAll.ts";
import { touch, wholeEdit } from "../config/text/textEdits.ts";

/** `source.fixAll`, by the name under which an editor can ask for ours alone. */
export const fixAllKind = `${CodeActionKind.SourceFixAll}.gradus`;

export interface Asked {
  readonly uri: string;
  readonly range: Range;
  /** Kinds that the editor wants; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** A Gradus config, whose mends may uncover others; undefined: each is applied as it is. */
  readonly config: { readonly file: string; readonly text: string } | undefined;
}

export function actions(
  findings: readonly Diagnostic[],
  shown: readonly LspDiagnostic[],
  asked: Asked,
): CodeAction[] {
  const wants = (kind: string): boolean =>
    asked.only === undefined || asked.only.some((one) => kind === one || kind.startsWith(`${one}.`));
  return [
    ...(wants(CodeActionKind.QuickFix) ? quickFixes(findings, shown, asked) : []),
    ...(wants(fixAllKind) ? everything(findings, asked) : []),
  ];
}

function quickFixes(
  findings: readonly Diagnostic[],
  shown: readonly LspDiagnostic[],
  { uri, range }: Asked,
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

function everything(findings: readonly Diagnostic[], { uri, config }: Asked): CodeAction[] {
  const chosen = sensible(findings);
  if (chosen.length === 0) return [];
  const edits: readonly TextEdit[] =
    config === undefined
      ? chosen.flatMap(({ edits }) => edits)
      : wholeEdit(config.text, mendAll(config.file, config.text));
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
