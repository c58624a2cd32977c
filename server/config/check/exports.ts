/** The names a reward's file offers, found without running it. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../../shared/lib/errors.ts";
import { stampOf } from "../../lib/growing/fileStamp.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { requireEsbuild } from "../../lib/carried.ts";
import { cellLine, isPython, readPython } from "../../lib/notebook/notebook.ts";
import { pythonProblem } from "../../lib/python/syntax.ts";
import { pythonNames } from "./pythonNames.ts";

type Exports =
  /** `open`: it may have names that parsing cannot see (CommonJS, re-exports of packages). */
  | { readonly kind: "names"; readonly names: readonly string[]; readonly open: boolean }
  | { readonly kind: "broken"; readonly message: string };

const cache = new Map<string, { readonly stamp: string; readonly exports: Exports }>();

export function exportsOf(file: string): Exports {
  const stamp = stampOf(statSync(file));
  const known = cache.get(file);
  if (known?.stamp === stamp) return known.exports;
  const found = isPython(file) ? pythonExports(file) : scriptExports(file);
  cache.set(file, { stamp, exports: found });
  return found;
}

function pythonExports(file: string): Exports {
  const text = readPython(file);
  const problem = pythonProblem(text);
  if (problem !== undefined) {
    const inCell = cellLine(text, problem.line);
    const line = (inCell?.line ?? problem.line) + 1;
    const place = inCell === undefined ? `line ${line}` : `cell ${inCell.cell}, line ${line}`;
    return { kind: "broken", message: `${place}: ${problem.message}.` };
  }
  const { names, open } = pythonNames(text);
  return { kind: "names", names, open };
}

function scriptExports(file: string): Exports {
  const text = readText(file, limits.source);
  const open = /\bmodule\.exports\b|\bexports\.[\w$]+\s*=|\bexport\s*\*\s*from\b/.test(text);
  try {
    const { metafile } = requireEsbuild().buildSync({
      stdin: {
        contents: text,
        sourcefile: file,
        resolveDir: dirname(file),
        loader: file.endsWith("ts") ? "ts" : "js",
      },
      bundle: false,
      write: false,
      metafile: true,
      format: "esm",
      logLevel: "silent",
      outfile: "out.js",
    });
    return {
      kind: "names",
      names: Object.values(metafile.outputs).flatMap((output) => output.exports),
      open,
    };
  } catch (error) {
    const problem = firstProblem(error);
    // Without esbuild nothing can be said of the file; the run will.
    return problem === undefined
      ? { kind: "names", names: [], open: true }
      : { kind: "broken", message: problem };
  }
}

function firstProblem(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("errors" in error) || !Array.isArray(error.errors))
    return undefined;
  const first: unknown = error.errors[0];
  if (typeof first !== "object" || first === null || !("text" in first)) return messageOf(error);
  const line =
    "location" in first &&
    typeof first.location === "object" &&
    first.location !== null &&
    "line" in first.location
      ? `line ${String(first.location.line)}: `
      : "";
  return `${line}${String(first.text)}.`;
}
