import type { AuxiliaryConfig } from "../../core/config/resolved.ts";

/** What metrics call the entries of `auxiliary`: the method, numbered where it comes again. */
export function auxiliaryNames(list: readonly AuxiliaryConfig[]): string[] {
  const seen = new Map<string, number>();
  return list.map(({ loss: { declaration } }) => {
    const count = (seen.get(declaration.name) ?? 0) + 1;
    seen.set(declaration.name, count);
    return count === 1 ? declaration.name : `${declaration.name}${count}`;
  });
}
