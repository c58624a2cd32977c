/** Every generated page: its path from the repository's root → its text. */
import { methodPages } from "./methods.ts";
import { presetsPage } from "./presets.ts";

export const generatedPages = (): ReadonlyMap<string, string> =>
  new Map([
    ...[...methodPages()].map(([name, text]): [string, string] => [`docs/methods/${name}`, text]),
    ["docs/presets.md", presetsPage()],
  ]);
