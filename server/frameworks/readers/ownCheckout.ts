/** What a person has added to or changed in a checkout of a trainer: its examples are not their project. */
import { trainers, trainersThat } from "../../../shared/run/trainers.ts";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { gitIndex, isAsIndexed } from "../releases/gitIndex.ts";
import { checkoutVersion } from "../releases/checkout.ts";
import type { Framework } from "../text/document.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export interface Checkout {
  /** Absolute. */
  readonly folder: string;
  readonly trainer: string;
  readonly version: string;
  /** Whether a file of it is the person's. */
  readonly isYours: (file: string) => boolean;
}

/** Folders that each has. What lies elsewhere is nobody's but the person's, also where they have committed it. */
const ownFolders: Readonly<Record<Framework, readonly string[]>> = {
  verl: ["verl", "examples", "recipe", "tests", "docs", "docker", "scripts", ".github"],
  trl: ["trl", "examples", "tests", "docs", "docker", "scripts", "assets", ".github"],
  openrlhf: ["openrlhf", "examples", "tests", "docs", "dockerfile", ".github"],
};
const frameworks = trainersThat("checked");

/** The checkouts at `root` or below that hold one of `files`; one that `root` lies in is what the person asked about. */
export function checkoutsOf(root: string, files: readonly string[]): readonly Checkout[] {
  const folders = new Map<string, Checkout | undefined>();
  for (const file of files)
    for (let folder = dirname(resolve(file)); liesIn(folder, root); folder = dirname(folder)) {
      if (folders.has(folder)) break;
      folders.set(folder, checkoutAt(folder));
    }
  return [...folders.values()].filter((one) => one !== undefined);
}

function checkoutAt(folder: string): Checkout | undefined {
  for (const framework of frameworks) {
    const version = checkoutVersion(folder, framework);
    if (version === undefined) continue;
    const index = gitIndex(folder);
    const isYours = (file: string): boolean => isPersons(file, { folder, framework, index });
    return { folder, trainer: trainers[framework].name, version, isYours };
  }
  return undefined;
}

interface Place {
  readonly folder: string;
  readonly framework: Framework;
  readonly index: ReadonlyMap<string, string> | undefined;
}

/** Outside of the trainer's folders; in them, what git does not have, or has otherwise. Without git all of them is the trainer's. */
function isPersons(file: string, { folder, framework, index }: Place): boolean {
  const path = relativePath(folder, resolve(file));
  const top = path.split("/")[0] ?? "";
  if (path.includes("/") && !ownFolders[framework].includes(top)) return true;
  if (index === undefined) return !path.includes("/");
  const hash = index.get(path);
  return hash === undefined || !isAsIndexed(readFileSync(file), hash);
}
