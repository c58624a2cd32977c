/** Every generated page: its path from the repository's root → its text. */
import { methodPages } from "./methods.ts";
import { presetsPage } from "./presets.ts";
import { rulePages } from "./rules.ts";

const below = (folder: string, pages: ReadonlyMap<string, string>): [string, string][] =>
  [...pages].map(([name, text]) => [`${folder}/${name}`, text]);

/** Folders that hold generated pages only. */
export const generatedFolders = ["docs/methods", "docs/rules"];

export const generatedPages = (): ReadonlyMap<string, string> =>
  new Map([
    ...below("docs/methods", methodPages()),
    ...below("docs/rules", rulePages()),
    ["docs/presets.md", presetsPage()],
  ]);
