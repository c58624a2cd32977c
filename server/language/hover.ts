import { relative } from "node:path";
import type { Hover } from "vscode-languageserver";
import { MarkupKind } from "vscode-languageserver";
import type { Declaration } from "../config/declaration.ts";
import type { Position } from "../config/diagnostic.ts";
import { presetNamed, type LoadedConfig } from "../config/index.ts";
import { paramsSchema } from "../config/jsonSchema.ts";
import { nameOf } from "../config/method.ts";
import { methodOf } from "../methods.ts";
import { textOf, type SourceNode } from "../config/node.ts";
import { wordsFor } from "../config/words.ts";
import { locate, type Located } from "./locate.ts";
import { chosenMethod, spotAt, type Spot, type Step } from "./spot.ts";

/** What a key or value means: summary, formula, range, default, sources, and who wrote the value in force. */
export function hoverAt(
  root: SourceNode,
  position: Position,
  loaded: LoadedConfig | undefined,
  evidence?: (key: string) => string | undefined,
): Hover | undefined {
  const located = locate(root, position);
  if (located === undefined) return undefined;
  const spot = spotAt(located.path, root, loaded?.root);
  const preset = located.path[0] === "extends" ? presetNamed(textOf(located.node) ?? "") : undefined;
  const parts =
    preset !== undefined
      ? [`**${preset.id}**: ${preset.title}`, preset.follows]
      : spot === undefined
        ? []
        : describe(spot, located, root, loaded);
  const seen = evidence?.(dottedPath(located.path, root));
  if (seen !== undefined) parts.push(seen);
  if (parts.length === 0) return undefined;
  return { contents: { kind: MarkupKind.Markdown, value: parts.join("\n\n") }, range: located.range };
}

function describe(
  spot: Spot,
  located: Located,
  root: SourceNode,
  loaded: LoadedConfig | undefined,
): string[] {
  const dotted = dottedPath(located.path, root);
  const key = `**${dotted}**`;
  const origin = originOf(dotted, loaded);
  const method = located.on === "value" ? methodAt(spot, located) : undefined;
  if (method !== undefined) return [...methodText(method), ...origin];
  const title = spot.summary === "" ? key : `${key}: ${spot.summary}`;
  if (spot.kind === "schema") return [title, ...rangeText(spot.schema), ...origin];
  if (spot.kind === "method") return [title, ...origin];
  const chosen = chosenMethod(spot);
  const range = spot.shape.kind === "value" ? rangeText(spot.shape.schema) : [];
  return [title, ...range, ...(chosen === undefined ? [] : methodText(chosen)), ...origin];
}

function methodAt(spot: Spot, { node }: Located): Declaration | undefined {
  if (spot.kind === "shape") return chosenMethod(spot);
  const text = textOf(node);
  return spot.kind === "method" && text !== undefined ? methodOf(spot.slot, text) : undefined;
}

const rangeText = (schema: Parameters<typeof wordsFor>[0]): string[] => {
  const fallback = schema.safeParse(undefined);
  const known =
    fallback.success && fallback.data !== undefined ? ` Default: \`${JSON.stringify(fallback.data)}\`.` : "";
  return [`Takes ${wordsFor(schema)}.${known}`];
};

function methodText(method: Declaration): string[] {
  const properties = paramsSchema(method)["properties"];
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return [
    `**${method.name}** (${method.slot.replaceAll("_", " ")}): ${method.summary}`,
    ...(method.formula === undefined ? [] : [`\`${method.formula}\``]),
    ...(names.length === 0 ? [] : [`Parameters: ${names.map((name) => `\`${name}\``).join(", ")}.`]),
    ...(method.sources.length === 0 ? [] : [`Sources: ${method.sources.join("; ")}.`]),
    ...(method.status === "approximate"
      ? ["Approximate: the source's formula could not be confirmed in every part."]
      : []),
  ];
}

/** Items of named lists by their names, as `origins` and `--set` address them. */
function dottedPath(path: readonly Step[], root: SourceNode): string {
  let node: SourceNode | undefined = root;
  const words: string[] = [];
  for (const step of path) {
    const below: SourceNode | undefined =
      node?.kind === "list" && typeof step === "number"
        ? node.items[step]
        : node?.kind === "map"
          ? node.entries.get(String(step))?.value
          : undefined;
    const list = words.at(-1);
    const name =
      typeof step === "number" && below !== undefined && (list === "tasks" || list === "stages")
        ? nameOf(below, list === "tasks" ? "task" : "stage")
        : undefined;
    words.push(name ?? String(step));
    node = below;
  }
  return words.join(".");
}

function originOf(path: string, loaded: LoadedConfig | undefined): string[] {
  const origin = loaded?.origins[path] ?? loaded?.origins[`${path}.use`];
  if (origin === undefined) return [];
  if (origin.file === "default") return ["Nobody wrote it: the default."];
  const file = relative(process.cwd(), origin.file);
  return [
    `From ${file}:${origin.line}${origin.via.length === 0 ? "" : ` through ${origin.via.join(" → ")}`}.`,
  ];
}
