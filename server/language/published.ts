/** A diagnostic as an editor takes it. */
import { pathToFileURL } from "node:url";
import { DiagnosticSeverity, DiagnosticTag, type Diagnostic as LspDiagnostic } from "vscode-languageserver";
import { evidencePage } from "../analysis/evidence/page.ts";
import type { Diagnostic } from "../config/check/diagnostic.ts";
import { rulePageFile } from "../config/text/rulePages.ts";

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

const lspTags = { unnecessary: DiagnosticTag.Unnecessary, deprecated: DiagnosticTag.Deprecated } as const;

/** @param document that it was found in: other places of it have the URI that the editor gave it */
export function toLsp(
  { severity, rule, message, range, related, tags }: Diagnostic,
  document: { readonly file: string; readonly uri: string },
): LspDiagnostic {
  const page = rulePageFile(rule);
  const href = page === undefined ? evidencePage(rule) : pathToFileURL(page).href;
  const uriOf = (other: string): string =>
    other === document.file ? document.uri : pathToFileURL(other).href;
  return {
    severity: severities[severity],
    code: rule,
    ...(href === undefined ? {} : { codeDescription: { href } }),
    ...(tags === undefined ? {} : { tags: tags.map((tag) => lspTags[tag]) }),
    source: "gradus",
    message,
    range,
    ...(related === undefined
      ? {}
      : {
          relatedInformation: related.map((other) => ({
            location: { uri: other.uri ?? uriOf(other.file), range: other.range },
            message: other.message,
          })),
        }),
  };
}
