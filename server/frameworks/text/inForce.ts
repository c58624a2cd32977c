/** Which of several settings of one key counts. */
import type { Setting } from "./document.ts";

/** The last setting of each key, in the order of the text: it wins over a merge, and `~key` sets nothing. */
export function settingsInForce(settings: readonly Setting[]): Map<string, Setting> {
  const found = new Map<string, Setting>();
  for (const setting of settings)
    if (setting.sign !== "~" && (setting.inherited !== true || !found.has(setting.key)))
      found.set(setting.key, setting);
  return found;
}
