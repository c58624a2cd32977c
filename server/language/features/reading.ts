/** What a config says of itself. */
import { frameworkHover } from "../../frameworks/use/assist/hover.ts";
import { wholeTree } from "../tolerant/tolerantParse.ts";
import { hoverAt } from "../hovers/hover.ts";
import { signatureHelpAt } from "../signatureHelp.ts";
import type { Feature } from "../feature.ts";
import { forecastHover } from "./forecast.ts";
import { sweepHover } from "./rescore.ts";

export const hover: Feature = {
  capabilities: () => ({ hoverProvider: true }),
  provide: (context) =>
    context.connection.onHover(
      context.guarded("hover", null, async ({ textDocument: { uri }, position }) => {
        const other = context.frameworkFile(uri);
        if (other !== undefined) return frameworkHover(other.document, position) ?? null;
        const open = context.config(uri);
        const root = open === undefined ? undefined : wholeTree(open);
        if (open === undefined || root === undefined) return null;
        const { file, whole } = open;
        const evidenceAt = (key: string): string | undefined => context.evidence?.hover?.(open, key);
        const extra = (await sweepHover(context, open, position)) ?? (await forecastHover(open, position));
        return hoverAt({ root, position, file, loaded: whole, evidence: evidenceAt, extra }) ?? null;
      }),
    ),
};

/** The parameters of what is being written in brackets. */
export const signatures: Feature = {
  capabilities: () => ({ signatureHelpProvider: { triggerCharacters: ["{", ",", ":"] } }),
  provide: ({ connection, config, guarded }) =>
    connection.onSignatureHelp(
      guarded("signatures", null, ({ textDocument, position }) => {
        const open = config(textDocument.uri);
        if (open === undefined) return null;
        return signatureHelpAt(open.text, position, open.whole.root, open.file) ?? null;
      }),
    ),
};
