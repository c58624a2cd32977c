/** A rule's diagnostic, as the editor and `validate` show it. */
import type { Diagnostic, Severity } from "../../config/check/diagnostic.ts";
import type { FrameworkDocument } from "../text/document.ts";
import type { RuleDiagnostic } from "./rule.ts";

export function diagnosed(
  { message, at, onKey = false, severity, fixes = [], related = [] }: RuleDiagnostic,
  rule: { readonly id: string; readonly severity: Severity },
  { file, head }: FrameworkDocument,
): Diagnostic {
  return {
    severity: severity ?? rule.severity,
    rule: rule.id,
    message,
    key: at?.key ?? "",
    file,
    range: (onKey ? at?.keyRange : at?.range) ?? head,
    fixes,
    ...(related.length === 0
      ? {}
      : {
          related: related.map(({ key, text, range }) => ({
            file,
            range,
            message: `\`${key}\` is ${text || "on"} here`,
          })),
        }),
  };
}
