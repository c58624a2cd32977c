/** What a Python file imports, found by reading its text: files next to it, and the packages that are left. */
import { dirname, join, resolve } from "node:path";
import { limits, readText, statsOf } from "../inputFile.ts";
import type { SourceText } from "../own/prepared.ts";

export interface PythonImports {
  /** Files below the first one's folder, in the order in which they are found, without the first. */
  readonly files: readonly SourceText[];
  /** First names of modules that are no such files: packages, and the standard library. */
  readonly modules: readonly string[];
}

const statement =
  /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n#]+))|import[ \t]+([^\n#]+))/gm;
const nameOf = (part: string): string =>
  part
    .trim()
    .split(/\s+as\s+/)[0]!
    .trim();
const isFile = (path: string): boolean => statsOf(path)?.isFile() === true;

/** Modules that a text names, with their leading dots; `from a import b` may mean the module `a.b`. */
function named(text: string): readonly { readonly module: string; readonly perhaps: readonly string[] }[] {
  return [...text.matchAll(statement)].flatMap(([, from, listed, plain, whole]) =>
    from === undefined
      ? (whole ?? "").split(",").map((part) => ({ module: nameOf(part), perhaps: [] }))
      : [{ module: from, perhaps: (listed ?? plain ?? "").split(",").map(nameOf) }],
  );
}

/** The file of a module below a folder. */
function fileOf(folder: string, parts: readonly string[]): string | undefined {
  const path = join(folder, ...parts);
  return [`${path}.py`, join(path, "__init__.py")].find(isFile);
}

/** Files of one import: those of the packages on its way, and the module's own. */
function filesOf(file: string, root: string, module: string, perhaps: readonly string[]): readonly string[] {
  const dots = /^\.*/.exec(module)![0].length;
  const base = dots === 0 ? root : resolve(dirname(file), ...Array<string>(dots - 1).fill(".."));
  const parts = module.slice(dots).split(".").filter(Boolean);
  const way = parts.map((_, at) => parts.slice(0, at + 1));
  const below = perhaps.map((name) => [...parts, name]);
  return [...way, ...below].flatMap((one) => fileOf(base, one) ?? []);
}

/**
 * Reads no file of a package that is installed: only the folder of the first file is looked in, from which Python imports
 * first.
 * @param file absolute
 */
export function pythonImports(file: string, text: string): PythonImports {
  const root = dirname(file);
  const found = new Map<string, string>([[file, text]]);
  const modules = new Set<string>();
  for (const [path, own] of found)
    for (const { module, perhaps } of named(own)) {
      const files = filesOf(path, root, module, perhaps);
      const [first = ""] = module.split(".");
      if (files.length === 0 && /^[A-Za-z_]\w*$/.test(first)) modules.add(first);
      for (const one of files) if (!found.has(one)) found.set(one, readText(one, limits.source));
    }
  found.delete(file);
  return { files: [...found].map(([path, own]) => ({ path, text: own })), modules: [...modules] };
}
