/** `--set tasks.countdown.numbers=[3]`: an assignment as a tree of one path, ready to be merged. */
import { UserError } from "../../shared/lib/errors.ts";
import { isNull, mapNode, startOfFile, type Origin, type SourceNode } from "./text/node.ts";
import { parseSource } from "./text/source.ts";

export interface Assignment {
  readonly path: readonly string[];
  readonly tree: SourceNode;
}

/** `a."b.c".d` → a, b.c, d, each with where it begins, without its quotes. */
export const placedSegments = (path: string): { readonly name: string; readonly start: number }[] =>
  [...path.matchAll(/"([^"]*)"|([^.]+)/g)].map((match) => ({
    name: match[1] ?? match[2] ?? "",
    start: match.index + (match[1] === undefined ? 0 : 1),
  }));

export const segments = (path: string): string[] => placedSegments(path).map(({ name }) => name);

/** Throws UserError where the assignment cannot be read; relative paths in the value start from `folder`. */
export function parseAssignment(text: string, folder: string): Assignment {
  const equals = text.indexOf("=");
  const path = segments(text.slice(0, Math.max(equals, 0)).trim());
  if (equals < 1 || path.length === 0) {
    throw new UserError(`\`--set ${text}\` assigns nothing`, {
      code: "set",
      action: "Write path=value, e.g. --set rollout.group=16.",
    });
  }
  const origin: Origin = { file: text, folder, range: startOfFile, via: [], layer: "set" };
  const { root, diagnostics } = parseSource(text, text.slice(equals + 1), origin);
  const [problem] = diagnostics;
  if (problem !== undefined)
    throw new UserError(`the value of \`--set ${text}\` is not YAML: ${problem.message}`, {
      code: "set",
      action: "Fix the value, and quote it for the shell where it has spaces or brackets.",
    });
  const value: SourceNode =
    root === undefined || isNull(root) ? { kind: "scalar", value: null, origin } : root;
  return {
    path,
    tree: path.reduceRight<SourceNode>(
      (below, key) => mapNode(origin, [[key, { key: origin, value: below }]]),
      value,
    ),
  };
}
