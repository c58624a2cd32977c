/** Reads an unpacked package's sources for its keys: what makes the tables, and reads a release that they lack. */
import type { Release } from "../tables/table.ts";
import { openrlhfFacts } from "./openrlhf.ts";
import { transformersFacts, trlFacts } from "./trl.ts";
import { verlFacts } from "./verl.ts";

export { tabulated } from "../tables/table.ts";

/** By package name. Each takes the folder that holds the package; undefined where it is not there. */
export const extractors = {
  verl: verlFacts,
  trl: trlFacts,
  transformers: transformersFacts,
  openrlhf: openrlhfFacts,
} as const satisfies Readonly<Record<string, (root: string) => Release | undefined>>;

export type PackageName = keyof typeof extractors;
