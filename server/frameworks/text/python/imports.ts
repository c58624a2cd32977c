/** What a Python file imports, wherever it does: also below `if TYPE_CHECKING:` and within functions. */
import type { PythonToken } from "../../../lib/python/tokens.ts";

export interface PythonImport {
  /** With a dot for each folder upwards: `..utils`. */
  readonly module: string;
  /** What is taken out of the module; absent for the module itself, `*` for all that it has. */
  readonly name?: string;
}

/** By the name that the file gives it; those of `import *` by their modules. */
export function importsOf(tokens: readonly PythonToken[]): ReadonlyMap<string, PythonImport> {
  const found = new Map<string, PythonImport>();
  tokens.forEach((token, i) => {
    if (token.kind !== "name" || tokens[i - 1]?.kind !== "line") return;
    if (token.text === "from") addNames(found, tokens, i + 1);
    if (token.text === "import") addModules(found, tokens, i + 1);
  });
  return found;
}

function addNames(found: Map<string, PythonImport>, tokens: readonly PythonToken[], from: number): void {
  const at = tokens.findIndex(({ kind, text }, i) => i >= from && (kind === "line" || text === "import"));
  if (tokens[at]?.text !== "import") return;
  const module = joined(tokens.slice(from, at));
  for (const [name, local] of named(tokens, at + 1))
    found.set(name === "*" ? `* ${module}` : local, { module, name });
}

function addModules(found: Map<string, PythonImport>, tokens: readonly PythonToken[], from: number): void {
  for (const [module, local] of named(tokens, from)) {
    // `import a.b` gives `a`, below which `a.b` is found by its whole name.
    if (local === module && module.includes(".")) found.set(module, { module });
    else found.set(local, { module });
  }
}

/** `a.b as c, d`, with or without brackets around it. */
function named(tokens: readonly PythonToken[], from: number): (readonly [string, string])[] {
  const stop = tokens.findIndex(({ kind }, i) => i >= from && kind === "line");
  const items: PythonToken[][] = [[]];
  for (const token of tokens.slice(from, stop < 0 ? tokens.length : stop)) {
    if (token.text === ",") items.push([]);
    else if (token.text !== "(" && token.text !== ")") items.at(-1)!.push(token);
  }
  return items
    .filter(({ length }) => length > 0)
    .map((item) => {
      const as = item.findIndex(({ kind, text }) => kind === "name" && text === "as");
      const name = joined(as < 0 ? item : item.slice(0, as));
      return [name, as < 0 ? name : (item[as + 1]?.text ?? name)] as const;
    });
}

const joined = (tokens: readonly PythonToken[]): string => tokens.map(({ text }) => text).join("");
