/** Reads an unpacked package's sources for its keys: what makes the tables, and reads a release that they lack. */
import type { Release } from "../tables/table.ts";
import { declaredFacts, type BelowSpec, type DeclaredSpec } from "./declared/index.ts";
import { packages, type DeclaredName } from "./packages.ts";
import { openrlhfFacts } from "./openrlhf.ts";
import { transformersFacts, trlFacts } from "./trl.ts";
import { verlFacts } from "./verl.ts";

export { tabulated } from "../tables/table.ts";

const own = {
  verl: verlFacts,
  trl: trlFacts,
  transformers: transformersFacts,
  openrlhf: openrlhfFacts,
} as const satisfies Readonly<Record<string, Extractor>>;

type Extractor = (root: string) => Release | undefined;
export type PackageName = keyof typeof own | DeclaredName;

// `Object.entries` forgets the names.
const declared = Object.fromEntries(
  Object.entries(packages).map(([name, spec]) => [name, (root: string) => declaredFacts(root, spec)]),
) as Readonly<Record<DeclaredName, Extractor>>;

/** By package name. Each takes the folder that holds the package; undefined where it is not there. */
export const extractors: Readonly<Record<PackageName, Extractor>> = { ...own, ...declared };

/** What a program takes from other packages. */
export const belowOf = (name: PackageName, tree: string): readonly BelowSpec[] => {
  const spec: DeclaredSpec | undefined = name in packages ? packages[name as DeclaredName] : undefined;
  return spec?.trees[tree]?.below ?? [];
};
