/** A package's files by their modules, read when one is first needed: what a name in one of them means. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { constantsOf, classesOf, type PythonClass } from "../../../text/python/classes.ts";
import type { PythonExpression } from "../../../text/python/expression.ts";
import { importsOf, type PythonImport } from "../../../text/python/imports.ts";
import { tokensOf, type PythonToken } from "../../../../lib/python/tokens.ts";

export interface Module {
  /** Dotted. */
  readonly name: string;
  readonly source: string;
  /** The module is a package's first file: its relative imports start within it. */
  readonly isPackage: boolean;
  readonly classes: ReadonlyMap<string, PythonClass>;
  readonly imports: ReadonlyMap<string, PythonImport>;
  readonly constants: ReadonlyMap<string, PythonExpression>;
  /** `X = A | B` and `X: TypeAlias = …`: what is written there. */
  readonly aliases: ReadonlyMap<string, readonly PythonToken[]>;
}

/** What a name stands for, in the module that declares it. */
export interface Declared {
  readonly module: Module;
  readonly class?: PythonClass;
  readonly alias?: readonly PythonToken[];
}

export class Sources {
  private readonly modules = new Map<string, Module | undefined>();

  /**
   * @param roots folders that hold packages
   * @param packages those that are read; anything else is unknown, as it is not of this release
   */
  constructor(
    private readonly roots: readonly string[],
    private readonly packages: ReadonlySet<string>,
  ) {}

  module(name: string): Module | undefined {
    if (!this.packages.has(name.split(".")[0] ?? "")) return undefined;
    if (!this.modules.has(name)) this.modules.set(name, this.read(name));
    return this.modules.get(name);
  }

  private read(name: string): Module | undefined {
    const path = name.replaceAll(".", "/");
    for (const root of this.roots)
      for (const [end, isPackage] of [
        [".py", false],
        ["/__init__.py", true],
      ] as const) {
        const file = join(root, `${path}${end}`);
        if (existsSync(file)) return moduleOf(name, readFileSync(file, "utf8"), isPackage);
      }
    return undefined;
  }

  /** @param name dotted, as the module writes it */
  lookup(module: Module, name: string, depth = 0): Declared | undefined {
    if (depth > 12) return undefined;
    const own = module.classes.get(name);
    if (own !== undefined) return { module, class: own };
    const alias = module.aliases.get(name);
    if (alias !== undefined) return { module, alias };
    const imported = module.imports.get(name);
    if (imported?.name !== undefined) return this.imported(module, imported, imported.name, depth);
    return this.within(module, name, depth) ?? this.starred(module, name, depth);
  }

  private imported(
    module: Module,
    { module: from }: PythonImport,
    name: string,
    depth: number,
  ): Declared | undefined {
    const other = this.module(absolute(from, module));
    return other === undefined ? undefined : this.lookup(other, name, depth + 1);
  }

  /** `models.Base`: the module before the dot is imported. */
  private within(module: Module, name: string, depth: number): Declared | undefined {
    const dot = name.lastIndexOf(".");
    const found = dot < 0 ? undefined : module.imports.get(name.slice(0, dot));
    if (found === undefined) return undefined;
    const from = absolute(found.module, module);
    const other = this.module(found.name === undefined ? from : `${from}.${found.name}`);
    return other === undefined ? undefined : this.lookup(other, name.slice(dot + 1), depth + 1);
  }

  private starred(module: Module, name: string, depth: number): Declared | undefined {
    for (const one of module.imports.values()) {
      const found = one.name === "*" ? this.imported(module, one, name, depth) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** `.utils` within `swift.arguments` is `swift.arguments.utils`. */
function absolute(name: string, { name: from, isPackage }: Module): string {
  const dots = /^\.*/.exec(name)?.[0].length ?? 0;
  if (dots === 0) return name;
  const parts = from.split(".");
  const kept = parts.slice(0, parts.length - dots + (isPackage ? 1 : 0));
  return [...kept, ...(dots === name.length ? [] : [name.slice(dots)])].join(".");
}

function moduleOf(name: string, source: string, isPackage: boolean): Module {
  const tokens = tokensOf(source);
  return {
    name,
    source,
    isPackage,
    classes: new Map(classesOf(source).map((one) => [one.name, one])),
    imports: importsOf(tokens),
    constants: constantsOf(tokens),
    aliases: aliasesOf(tokens),
  };
}

function aliasesOf(tokens: readonly PythonToken[]): ReadonlyMap<string, readonly PythonToken[]> {
  const found = new Map<string, readonly PythonToken[]>();
  tokens.forEach((line, i) => {
    if (line.kind !== "line" || line.indent !== 0) return;
    const at = tokens[i + 1]?.text === "type" && tokens[i + 2]?.kind === "name" ? i + 2 : i + 1;
    const [name, next] = [tokens[at], tokens[at + 1]];
    if (name?.kind !== "name" || (next?.text !== "=" && next?.text !== ":")) return;
    const end = tokens.findIndex(({ kind }, j) => j > at && kind === "line");
    const stop = end < 0 ? tokens.length : end;
    const equals = tokens.findIndex(({ text }, j) => j > at && text === "=");
    if (equals > at && equals < stop) found.set(name.text, tokens.slice(equals + 1, stop));
  });
  return found;
}
