/** What the reward functions of a workspace take: a file is read once until it changes, and never run. */
import { stampOf } from "../../../lib/growing/fileStamp.ts";
import { limits, regularFile } from "../../../lib/inputFile.ts";
import { isNotebook, isPython, readPython } from "../../../lib/notebook/notebook.ts";
import { pythonSignature } from "./python.ts";
import { scriptSignature } from "./script.ts";
import type { Parameter, Signature } from "./signature.ts";

export type { Parameter, Signature } from "./signature.ts";

/** Larger files hold no reward. */
const most = 512 * 1024;

interface Source {
  readonly stamp: string;
  readonly text: string;
  readonly signatures: Map<string, Signature | undefined>;
}
const cache = new Map<string, Source>();

/** undefined where there is no such file or function. */
export function signatureOf(file: string, name: string): Signature | undefined {
  const source = sourceOf(file);
  if (source === undefined) return undefined;
  const { text, signatures } = source;
  if (!signatures.has(name))
    signatures.set(name, isPython(file) ? pythonSignature(text, name) : scriptSignature(text, name));
  return signatures.get(name);
}

function sourceOf(file: string): Source | undefined {
  try {
    const stats = regularFile(file);
    if (stats.size > (isNotebook(file) ? limits.notebook : most)) return undefined;
    const stamp = stampOf(stats);
    const known = cache.get(file);
    if (known?.stamp === stamp) return known;
    const source = { stamp, text: readPython(file).replaceAll("\r\n", "\n"), signatures: new Map() };
    cache.set(file, source);
    return source;
  } catch {
    // No file: the rule about reward files says so.
    return undefined;
  }
}

/** As Markdown paragraphs. */
export function signatureText({ head, language, doc, types, args, recognised }: Signature): string[] {
  return [
    ["```" + language, ...types, ...(types.length > 0 ? [""] : []), head, "```"].join("\n"),
    ...(doc === "" ? [] : [doc]),
    ...(recognised?.kind === "convention" ? [`Called by the names of ${recognised.convention.title}.`] : []),
    ...(args.length === 0 ? [] : [`Takes from \`args\`:\n\n${args.map(argText).join("\n")}`]),
  ];
}

const argText = ({ name, type, usual, says }: Parameter): string =>
  `- \`${name}${type === undefined ? "" : `: ${type}`}${usual === undefined ? "" : ` = ${usual}`}\`${says === undefined ? "" : `: ${says}`}`;
