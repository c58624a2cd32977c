/** A name under the cursor, and everywhere else that it means the same thing. */
import type { Position } from "../../lib/lines.ts";
import { contains } from "../locate.ts";
import type { ConfigFile, ConfigFiles } from "./configFiles.ts";
import { policyWords } from "./naming.ts";
import type { Occurrence } from "./occurrences.ts";

export interface SymbolOccurrence {
  readonly file: ConfigFile;
  readonly occurrence: Occurrence;
}

export const isSame = (a: Pick<Occurrence, "kind" | "name">, b: Pick<Occurrence, "kind" | "name">): boolean =>
  a.kind === b.kind && (a.name === b.name || (isPolicy(a) && isPolicy(b)));

/** `reference`, `previous` and `behaviour` are the policy at other times. */
export const isPolicy = ({ kind, name }: Pick<Occurrence, "kind" | "name">): boolean =>
  kind === "model" && policyWords.includes(name);

/** The narrowest name at a position: within a metric, the name in it. */
export function occurrenceAt({ names }: ConfigFile, at: Position): Occurrence | undefined {
  const width = ({ range }: Occurrence): number => range.end.character - range.start.character;
  return names.occurrences
    .filter(({ range, unwritten }) => unwritten === undefined && contains(range, at))
    .sort((a, b) => width(a) - width(b))[0];
}

const declares = (file: ConfigFile, symbol: Occurrence): boolean =>
  file.names.occurrences.some((other) => other.role === "declaration" && isSame(other, symbol));

const mentions = (file: ConfigFile, symbol: Occurrence): boolean =>
  file.names.occurrences.some((other) => isSame(other, symbol));

/** Where the name is declared: in the parent that is furthest up, else in the file, else where it is first written. */
export function declarations(files: ConfigFiles, file: string, symbol: Occurrence): SymbolOccurrence[] {
  const line = files.lineage(file);
  const declaring = line.filter((one) => declares(one, symbol));
  const roots = declaring.filter(
    (one) => !declaring.some((other) => other !== one && files.lineage(one.file).includes(other)),
  );
  const of = (one: ConfigFile, role: Occurrence["role"]): SymbolOccurrence[] =>
    one.names.occurrences
      .filter((other) => other.role === role && isSame(other, symbol))
      .map((occurrence) => ({ file: one, occurrence }));
  const found = roots.flatMap((one) => of(one, "declaration"));
  // A term that only a stage has is declared by the first stage that writes it.
  return found.length > 0 ? found : line.flatMap((one) => of(one, "override")).slice(0, 1);
}

/**
 * Every occurrence in the files that share a declaration of the name: those that declare it, whatever extends them, and
 * parents that speak of it.
 * A file that declares the same name with no such parent means something else.
 */
export async function everywhere(
  files: ConfigFiles,
  file: string,
  symbol: Occurrence,
): Promise<SymbolOccurrence[]> {
  const known = new Map((await files.all()).map((one) => [one.file, one]));
  for (const one of [...known.keys(), file].flatMap((name) => files.lineage(name))) known.set(one.file, one);
  const lineages = [...known.values()].map((one) => ({ one, line: files.lineage(one.file) }));
  const scope = new Set([file]);
  let shared = new Set<string>();
  for (;;) {
    shared = new Set(
      lineages
        .filter(({ one }) => scope.has(one.file))
        .flatMap(({ line }) => line.filter((up) => declares(up, symbol)).map((up) => up.file)),
    );
    const before = scope.size;
    for (const { one, line } of lineages) {
      if (line.some((up) => shared.has(up.file))) scope.add(one.file);
      // A parent may speak of what only its children declare.
      if (scope.has(one.file)) for (const up of line) if (mentions(up, symbol)) scope.add(up.file);
    }
    if (scope.size === before) break;
  }
  return [...known.values()]
    .filter((one) => scope.has(one.file))
    .flatMap((one) =>
      one.names.occurrences
        .filter((other) => isSame(other, symbol))
        .map((occurrence) => ({ file: one, occurrence })),
    );
}
