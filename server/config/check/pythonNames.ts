/** Names bound at the top level of a Python file, by a scan of its tokens: strings and comments are blanked first. */
import { blanked, pythonNoise } from "../../lib/texts/blanked.ts";

export function pythonNames(source: string): { names: string[]; open: boolean } {
  const code = blanked(source, pythonNoise);
  const names = new Set<string>();
  for (const [, name] of code.matchAll(/^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w*)/gm))
    if (name !== undefined) names.add(name);
  for (const [, name] of code.matchAll(/^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)/gm))
    if (name !== undefined) names.add(name);
  for (const [, list] of code.matchAll(/^(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(\([^)]*\)|[^\n]+)/gm)) {
    for (const part of (list ?? "").replaceAll(/[()]/g, "").split(",")) {
      const name = /(?:\bas\s+)?([A-Za-z_]\w*)\s*$/.exec(part.trim())?.[1];
      if (name !== undefined) names.add(name);
    }
  }
  return { names: [...names], open: /^from[ \t]+[\w.]+[ \t]+import[ \t]+\*/m.test(code) };
}
