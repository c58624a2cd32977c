/** What holds from a release on: sure where the file, its requirements or an installed package name one, else only said. */
import type { Fix, Severity } from "../../../config/check/diagnostic.ts";
import type { Setting } from "../../text/document.ts";
import type { RuleDiagnostic, RuleModel } from "../../rules/rule.ts";
import { preferringFirst } from "./rule.ts";

interface Held {
  readonly at: Setting;
  readonly message: string;
  /** Where the release is known. */
  readonly severity: Severity;
  /** The first release that it holds for, as its name begins: `0.9`. */
  readonly since: string;
  readonly fixes?: readonly (Fix | undefined)[];
}

export function inRelease(
  model: RuleModel,
  { at, message, severity, since, fixes = [] }: Held,
): RuleDiagnostic[] {
  const { version } = model.document;
  if (version.from !== "newest") return [{ at, message, severity, fixes: preferringFirst(fixes) }];
  return [
    {
      at,
      message: `From verl ${since} on, ${message.replace(/^This/, "this")} Nothing here names a release: \`# verl==${version.text}\` pins it.`,
      severity: "info",
      fixes: [...preferringFirst(fixes), pin(model)],
    },
  ];
}

/** A comment at the top, below `#!`. */
function pin({ document: { text, version } }: RuleModel): Fix {
  const line = text.startsWith("#!") ? 1 : 0;
  const start = { line, character: 0 };
  const comment = `# verl==${version.text}\n`;
  return {
    title: `Pin verl ${version.text}`,
    edits: [{ range: { start, end: start }, newText: comment }],
    preferred: false,
  };
}
