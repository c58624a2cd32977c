/**
 * Rules across fields wait while a value cannot be read: what is typed at this moment should not light up half the file.
 * A linter is asked once, and should say everything: it puts the unreadable values aside and looks at the rest.
 */
import type { Diagnostic } from "./diagnostic.ts";
import { loadConfig, type LoadOptions } from "./load.ts";

/** Each pass puts aside what the one before found, or what holds it. */
const passes = 4;

const parentOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf(".")));
const below = (key: string, above: string): boolean => key === above || key.startsWith(`${above}.`);

/** The findings of a config, those of the rules across fields included wherever the rest can be made sense of. */
export function allFindings(file: string, options: LoadOptions): readonly Diagnostic[] {
  const { diagnostics, readable } = loadConfig(file, options);
  if (readable) return diagnostics;
  const aside = new Set<string>();
  let found = diagnostics;
  for (let pass = 0; pass < passes; pass++) {
    for (const { key, severity } of found) {
      if (severity !== "error" || key === "") continue;
      const next = aside.has(key) ? parentOf(key) : key;
      if (next !== "") aside.add(next);
    }
    if (aside.size === 0) break;
    const set = [...(options.set ?? []), ...[...aside].map((key) => `${key}=null`)];
    const rest = loadConfig(file, { ...options, set });
    if (rest.readable) return merged(diagnostics, rest.diagnostics, [...aside]);
    found = rest.diagnostics;
  }
  return diagnostics;
}

/** What only the second look found, and not about what was put aside for it. */
function merged(
  first: readonly Diagnostic[],
  second: readonly Diagnostic[],
  aside: readonly string[],
): Diagnostic[] {
  const fresh = second.filter(
    ({ key, rule, message }) =>
      key !== "" &&
      !message.startsWith("in `--set ") &&
      !aside.some((above) => below(key, above)) &&
      !first.some((known) => known.rule === rule && known.key === key),
  );
  return [...first, ...fresh].sort(
    (a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character,
  );
}
