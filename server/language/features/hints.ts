/** What follows from a config's lines, at their ends. */
import type { InlayHint } from "vscode-languageserver";
import { hintsOf } from "../hints/index.ts";
import type { Feature } from "../feature.ts";
import { evidenceHints } from "./evidence.ts";
import { rescoreHints } from "./rescore.ts";

export const hints: Feature = {
  capabilities: () => ({ inlayHintProvider: true }),
  provide: (context) =>
    context.connection.languages.inlayHint.on(
      context.guarded("hints", [], async ({ textDocument, range }) => {
        const open = context.config(textDocument.uri);
        if (open === undefined) return [];
        const all = [
          ...(await hintsOf(open, context.evidence)),
          ...evidenceHints(context.evidence, open),
          ...rescoreHints(context, open),
        ];
        const wanted = all.filter(
          ({ position: { line } }) => line >= range.start.line && line <= range.end.line,
        );
        return setApart(wanted, open.text.split(/\r?\n/));
      }),
    ),
};

/** A dot where a hint would run into the word or number before it, or into the hint before it. */
export function setApart(hints: readonly InlayHint[], lines: readonly string[]): InlayHint[] {
  const before = new Set<string>();
  return hints.map((hint) => {
    const { line, character } = hint.position;
    const touchesWord = /\w/.test((lines[line] ?? "").charAt(character - 1));
    const key = `${line}:${character}`;
    const apart = touchesWord || before.has(key);
    before.add(key);
    if (!apart || hint.paddingLeft !== true) return hint;
    const { label } = hint;
    return {
      ...hint,
      label:
        typeof label === "string"
          ? `· ${label}`
          : label.map((part, index) => (index === 0 ? { ...part, value: `· ${part.value}` } : part)),
    };
  });
}
