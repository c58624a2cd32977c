/** Patterns of paths: `*`, `**`, `?`, `[abc]`, `{a,b}`. For shells that hand them over as they are. */
import { normalize } from "node:path";
import { slashed } from "../../shared/lib/slashes.ts";

const slashes = (path: string): string => slashed(normalize(path));

/** Tells whether a path matches. */
export function matcher(pattern: string): (path: string) => boolean {
  const expression = new RegExp(`^${translated(slashes(pattern))}$`);
  return (path) => expression.test(slashes(path));
}

/** The folder below which every match lies. */
export function staticFolder(pattern: string): string {
  const parts = slashes(pattern).split("/");
  const plain = parts.slice(
    0,
    parts.findIndex((part) => /[*?[{]/.test(part)),
  );
  return plain.length === 0 ? "." : plain.join("/") || "/";
}

const tokens = /\*\*\/|\*\*|\*|\?|\[[^\]/]+\]|\{[^{}/]*\}|[^]/g;

const translated = (pattern: string): string =>
  (pattern.match(tokens) ?? []).map((token) => expressionOf(token)).join("");

function expressionOf(token: string): string {
  if (token === "**/") return "(?:[^/]+/)*";
  if (token === "**") return ".*";
  if (token === "*") return "[^/]*";
  if (token === "?") return "[^/]";
  if (token.length > 2 && token.startsWith("["))
    return `[${token.slice(1, -1).replace(/^!/, "^").replaceAll("\\", "\\\\")}]`;
  if (token.length > 1 && token.startsWith("{"))
    return `(?:${token.slice(1, -1).split(",").map(translated).join("|")})`;
  return token.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
