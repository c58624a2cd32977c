import { CodeActionKind, type CodeAction, type Diagnostic as LspDiagnostic } from "vscode-languageserver";
import type { Diagnostic, Fix, Range } from "../config/diagnostic.ts";

const overlaps = (a: Range, b: Range): boolean => !(isBefore(a.end, b.start) || isBefore(b.end, a.start));
const isBefore = (a: Range["start"], b: Range["start"]): boolean =>
  a.line < b.line || (a.line === b.line && a.character < b.character);

/** `source.fixAll`, by the name under which an editor can ask for ours alone. */
export const fixAllKind = `${CodeActionKind.SourceFixAll}.gradus`;

/** Quick fixes of the findings in a range, and everything that has one sensible mend at once. */
export function actions(
  uri: string,
  findings: readonly Diagnostic[],
  shown: readonly LspDiagnostic[],
  range: Range,
  only: readonly string[] | undefined,
): CodeAction[] {
  const wants = (kind: string): boolean =>
    only === undefined || only.some((asked) => kind === asked || kind.startsWith(`${asked}.`));
  const found: CodeAction[] = [];
  if (wants(CodeActionKind.QuickFix)) {
    for (const [index, finding] of findings.entries()) {
      if (!overlaps(finding.range, range)) continue;
      const diagnostics = shown[index] === undefined ? [] : [shown[index]];
      for (const fix of finding.fixes) {
        found.push({
          title: fix.title,
          kind: CodeActionKind.QuickFix,
          diagnostics,
          isPreferred: fix.preferred === true && finding.fixes.length === 1,
          edit: { changes: { [uri]: [...fix.edits] } },
        });
      }
    }
  }
  const all = wants(fixAllKind) ? everyMend(findings) : [];
  if (all.length > 0)
    found.push({
      title: "Fix everything that has one fix",
      kind: fixAllKind,
      edit: { changes: { [uri]: all.flatMap(({ edits }) => [...edits]) } },
    });
  return found;
}

/** Preferred fixes that do not touch each other's text. */
function everyMend(findings: readonly Diagnostic[]): Fix[] {
  const chosen: Fix[] = [];
  for (const { fixes } of findings) {
    const [fix] = fixes.filter(({ preferred }) => preferred === true);
    const taken = chosen.flatMap(({ edits }) => edits);
    if (
      fix !== undefined &&
      !fix.edits.some((edit) => taken.some((other) => overlaps(edit.range, other.range)))
    )
      chosen.push(fix);
  }
  return chosen;
}
