/** A file of `sites/`, with what is wrong in it. */
import { copiedWord } from "../../shared/lib/copiedWord.ts";
import { basename, dirname, resolve } from "node:path";
import { UserError, readFailure } from "../../shared/lib/errors.ts";
import type { Diagnostic } from "../config/check/diagnostic.ts";
import { unknownName } from "../config/check/report.ts";
import { entry, startOfFile, toJson, type SourceNode } from "../config/text/node.ts";
import { parseSource } from "../config/text/source.ts";
import { limits, readText } from "../lib/inputFile.ts";
import { siteSchema, type SiteConfig } from "./siteConfig.ts";

/** A YAML file in a folder `sites`. */
export const isSiteFile = (file: string): boolean =>
  /^[^.].*\.ya?ml$/.test(basename(file)) &&
  !/\.gradus\.ya?ml$/.test(file) &&
  basename(dirname(resolve(file))) === "sites";

export const saysSite = (text: string): boolean => /^["']?kind["']?\s*:\s*["']?(here|ssh)\b/m.test(text);

export interface CheckedSite {
  /** undefined: it has errors. */
  readonly config: SiteConfig | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param file absolute */
export function checkSite(file: string, text: string): CheckedSite {
  const { root, diagnostics } = parseSource(file, text, {
    file,
    folder: dirname(file),
    via: [],
    layer: "file",
  });
  if (diagnostics.length > 0) return { config: undefined, diagnostics };
  if (root?.kind !== "map") {
    const message = "A site says at least what it is: `kind: here`, or `kind: ssh` and `host`.";
    return { config: undefined, diagnostics: [problem(file, message, "required", "", root)] };
  }
  const parsed = siteSchema.safeParse(toJson(root));
  if (parsed.success) return { config: parsed.data, diagnostics: [] };
  const found = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => unknownKey(file, root, path, key))
      : [wrongValue(file, root, path, issue.message)];
  });
  return { config: undefined, diagnostics: found };
}

/** @throws UserError at the place of what is wrong first */
export function readSite(file: string): SiteConfig {
  let text: string;
  try {
    text = readText(file, limits.config);
  } catch (error) {
    throw new UserError(`The site cannot be read: ${readFailure(error)}.`, { file, code: "site-file" });
  }
  const { config, diagnostics } = checkSite(resolve(file), text);
  if (config !== undefined) return config;
  const [first] = diagnostics;
  throw new UserError(first?.message ?? "The site cannot be read.", {
    file,
    ...(first === undefined ? {} : first.range.start),
    code: "site-file",
    action: `Fix what \`gradus validate ${copiedWord(file)}\` lists.`,
  });
}

type Kind = SiteConfig["kind"];
const kinds: readonly Kind[] = siteSchema.options.map(({ shape }) => shape.kind.value);

/** Keys of a place of the file; of the whole where the kind is not known. */
function keysAt(root: SourceNode, [first]: readonly string[]): readonly string[] {
  const kind = entry(root, "kind")?.value;
  const own = siteSchema.options.filter(
    ({ shape }) => kind?.kind !== "scalar" || !isKind(kind.value) || shape.kind.value === kind.value,
  );
  if (first === "price") return Object.keys(siteSchema.options[0].shape.price.unwrap().shape);
  return [...new Set(own.flatMap(({ shape }) => Object.keys(shape)))];
}

const isKind = (value: unknown): boolean => kinds.some((kind) => kind === value);

function unknownKey(file: string, root: SourceNode, path: readonly string[], key: string): Diagnostic {
  const found = entry(nodeAt(root, path), key);
  const at = found?.key ?? root.origin;
  const { hint, fixes } = unknownName(key, keysAt(root, path), at);
  const where = path.length === 0 ? "a site" : `\`${path.join(".")}\``;
  return {
    ...problem(
      file,
      `\`${key}\` is not a key of ${where}. ${hint}`,
      "unknown-key",
      [...path, key].join("."),
      root,
    ),
    range: at.range,
    fixes,
  };
}

function wrongValue(file: string, root: SourceNode, path: readonly string[], said: string): Diagnostic {
  const [key = ""] = path;
  const node = nodeAt(root, path);
  if (key === "kind") {
    const message = `A site is of one of the kinds ${kinds.map((kind) => `\`${kind}\``).join(", ")}: write \`kind: ssh\`.`;
    return problem(file, message, "value", key, node ?? root);
  }
  if (node === undefined) {
    const within = path.length > 1 ? nodeAt(root, path.slice(0, -1)) : entry(root, "kind")?.value;
    const message =
      key === "host"
        ? "A site of the kind `ssh` has a `host`: an alias of ~/.ssh/config, or user@host."
        : `\`${path.join(".")}\` is missing.`;
    return problem(file, message, "required", path.join("."), within ?? root);
  }
  return problem(file, `\`${path.join(".")}\`: ${said}.`, "value", path.join("."), node);
}

function nodeAt(root: SourceNode, path: readonly string[]): SourceNode | undefined {
  let node: SourceNode | undefined = root;
  for (const key of path) node = entry(node, key)?.value;
  return node;
}

const problem = (
  file: string,
  message: string,
  rule: string,
  key: string,
  node: SourceNode | undefined,
): Diagnostic => ({
  severity: "error",
  rule,
  message,
  key,
  file,
  range: node?.origin.range ?? startOfFile,
  fixes: [],
});
