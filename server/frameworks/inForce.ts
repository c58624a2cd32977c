/** Of several settings of one key, the one that counts. */
import type { Setting } from "./document.ts";

/** The last one that is written: what a merge brings in yields to it, and `~key` sets nothing. In the order of the text. */
export function settingsInForce(settings: readonly Setting[]): Map<string, Setting> {
  const found = new Map<string, Setting>();
  for (const setting of settings)
    if (setting.sign !== "~" && (setting.inherited !== true || !found.has(setting.key)))
      found.set(setting.key, setting);
  return found;
}
