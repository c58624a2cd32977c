/** Every page that the build writes to dist/docs: its path from there → its text. */
import { methodPages } from "./methods.ts";
import { presetsPage } from "./presets.ts";
import { rulePages } from "./rules.ts";

const below = (folder: string, pages: ReadonlyMap<string, string>): [string, string][] =>
  [...pages].map(([name, text]) => [`${folder}/${name}`, text]);

export const generatedPages = (): ReadonlyMap<string, string> =>
  new Map([
    ...below("methods", methodPages()),
    ...below("rules", rulePages()),
    ["presets.md", presetsPage()],
  ]);
