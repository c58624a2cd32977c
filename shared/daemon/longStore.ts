import { UserError } from "../lib/errors.ts";

/** Characters of a path on Windows beyond which SQLite opens nothing; Node itself goes further. */
const longest = 259;
/** What SQLite writes that has the longest name. */
const deepest = "\\store.sqlite-journal";

/** @throws UserError where the system's own bound of a path leaves a store no room */
export function refuseLong(store: string, platform: NodeJS.Platform = process.platform): void {
  const most = longest - deepest.length;
  if (platform !== "win32" || store.length <= most) return;
  throw new UserError(
    `The path of the store has ${store.length} characters, and Windows leaves room for ${most}: ${store}`,
    {
      file: store,
      code: "store-path-long",
      action: "Move the project to a folder with a shorter path, or name another store: --store FOLDER.",
    },
  );
}
