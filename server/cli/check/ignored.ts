/** What a person leaves out of `gradus check`: an old log that is known, a folder of examples. */
import { sep } from "node:path";
import { matcher } from "../../lib/pattern.ts";
import { pathText } from "../text/diagnostics.ts";

/**
 * As git reads a line of .gitignore: a pattern without a slash is of a name at any depth, one with a slash of a path from here, and
 * what leaves a folder out leaves out all in it.
 */
export function ignored(patterns: readonly string[]): (file: string) => boolean {
  const rules = patterns.map((pattern) => {
    const matches = matcher(pattern.replace(/\/+$/, ""));
    const isPath = /[/\\]./.test(pattern);
    return (parts: readonly string[], to: number): boolean =>
      matches(isPath ? parts.slice(0, to).join(sep) : parts[to - 1]!);
  });
  return (file) => {
    const parts = pathText(file).split(/[/\\]/);
    return rules.some((holds) => parts.some((_, at) => holds(parts, at + 1)));
  };
}
