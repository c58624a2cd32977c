/** Where a reward's file declares the function that a config names, found by reading: nothing is executed. */
import type { Range } from "../../lib/lines.ts";
import { startOfFile } from "../../config/text/node.ts";
import { limits, readText, regularFile, UnfitFile } from "../../lib/inputFile.ts";

const cache = new Map<string, { readonly stamp: string; readonly text: string }>();

/** The name's own place; the file's beginning where it is not found, or the file is a pipe. */
export function exportPlace(file: string, name: string): Range {
  try {
    return placeIn(textOf(file), name, file.endsWith(".py") ? "python" : "script") ?? startOfFile;
  } catch (error) {
    if (error instanceof UnfitFile) return startOfFile;
    throw error;
  }
}

function textOf(file: string): string {
  const { mtimeMs, size } = regularFile(file);
  const stamp = `${mtimeMs} ${size}`;
  const known = cache.get(file);
  const text = known?.stamp === stamp ? known.text : readText(file, limits.source);
  cache.set(file, { stamp, text });
  return text;
}

export function placeIn(text: string, name: string, language: "python" | "script"): Range | undefined {
  const code = language === "python" ? blanked(text, pythonNoise) : blanked(text, scriptNoise);
  const quoted = name.replaceAll("$", "\\$");
  for (const pattern of language === "python" ? pythonForms(quoted) : scriptForms(quoted)) {
    const indices = pattern.exec(code)?.indices;
    const found = indices?.[1] ?? indices?.[0];
    if (found === undefined) continue;
    const before = text.slice(0, found[0]).split("\n");
    const start = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    return { start, end: { ...start, character: start.character + found[1] - found[0] } };
  }
  return undefined;
}

const pythonForms = (name: string): RegExp[] => [
  new RegExp(`^(?:async[ \\t]+)?(?:def|class)[ \\t]+(${name})\\b`, "dm"),
  new RegExp(`^(${name})[ \\t]*(?::[^=\\n]*)?=`, "dm"),
  new RegExp(`^(?:from|import)\\b[^\\n]*\\b(${name})\\b`, "dm"),
];

/** The declaration of an export first, then the export that only mentions the name. */
const scriptForms = (name: string): RegExp[] =>
  name === "default"
    ? [
        /\bexport\s+default\s+(?:async\s+)?function\b\s*\*?\s*([\w$]+)/d,
        /\bexport\s+(default)\b/d,
        /\bas\s+(default)\b/d,
      ]
    : [
        new RegExp(
          `\\bexport\\s+(?:declare\\s+)?(?:async\\s+)?(?:function\\s*\\*?|const|let|var|class)\\s+(${name})(?![\\w$])`,
          "d",
        ),
        new RegExp(`\\bexport\\s*\\{[^}]*?(?:\\bas\\s+)(${name})(?![\\w$])`, "d"),
        new RegExp(
          `(?:^|[\\n;])\\s*(?:async\\s+)?(?:function\\s*\\*?|const|let|var|class)\\s+(${name})(?![\\w$])`,
          "d",
        ),
        new RegExp(`\\bexport\\s*\\{[^}]*?(?<![\\w$])(${name})(?![\\w$])`, "d"),
        new RegExp(`\\bexport\\s+(?:const|let|var)\\s*\\{[^}]*?(?<![\\w$])(${name})(?![\\w$])`, "d"),
        new RegExp(`\\bexports\\.(${name})\\s*=`, "d"),
      ];

const pythonNoise =
  /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*/g;
const scriptNoise =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*(?:`|$)/g;

/** Comments and strings as spaces: what remains keeps its place. */
const blanked = (text: string, noise: RegExp): string =>
  text.replaceAll(noise, (piece) => piece.replaceAll(/[^\n]/g, " "));
