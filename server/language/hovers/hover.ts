/** What a key or value means: summary, formula, range, default, sources, and who wrote the value in force. */
import { dirname } from "node:path";
import { MarkupKind, type Hover } from "vscode-languageserver";
import type { Position } from "../../lib/lines.ts";
import type { LoadedConfig } from "../../rules/load.ts";
import { fileReference, nameOf } from "../../config/check/method.ts";
import { modelFacts } from "../../analysis/modelFacts.ts";
import { templateText } from "../../engine/tokenizers/templateProbe.ts";
import { isReadable } from "../../rules/nearFile.ts";
import { child, textOf, toJson, type SourceNode } from "../../config/text/node.ts";
import { referenceOf } from "../../core/references.ts";
import { unwrapped } from "../../config/check/values.ts";
import { methodOf } from "../../methods/index.ts";
import { defaultOf, defaultText, takesText } from "../completion/keys.ts";
import { inheritedText } from "./inherited.ts";
import { docsLink } from "./docsPage.ts";
import { nameText, presetText, rewardText, userFunction } from "./namedText.ts";
import { originText } from "./origin.ts";
import { termAt, termText } from "./termText.ts";
import { scheduleText } from "./scheduleText.ts";
import { locate, type Located } from "../locate.ts";
import { methodText } from "./methodText.ts";
import { chosenMethod, schemaOf, slotOf, spotAt, type Spot, type Step } from "../spot.ts";
import { usualAt } from "../usual.ts";

interface HoverPlace {
  /** The document's own tree. */
  readonly root: SourceNode;
  readonly position: Position;
  /** Path of the config's file. */
  readonly file: string;
  /** The config as it last resolved. */
  readonly loaded: LoadedConfig | undefined;
  /** What runs have shown about a value, by its path. */
  readonly evidence?: (key: string) => string | undefined;
  /** What else is to be said of the place: Markdown. */
  readonly extra?: string | undefined;
}

interface HoverTarget extends HoverPlace {
  readonly located: Located;
  /** As `--set` addresses it. */
  readonly dotted: string;
}

export function hoverAt(place: HoverPlace): Hover | undefined {
  const located = locate(place.root, place.position);
  if (located === undefined) return undefined;
  const dotted = dottedPath(located.path, place.root);
  const target: HoverTarget = { ...place, located, dotted };
  const parts = partsOf(target);
  parts.push(...chatText(target));
  // Behind the first paragraph: a long description would push it out of sight.
  parts.splice(1, 0, ...[place.evidence?.(dotted), place.extra].filter((text) => text !== undefined));
  if (parts.length === 0) return undefined;
  return { contents: { kind: MarkupKind.Markdown, value: parts.join("\n\n") }, range: located.range };
}

/** What the model's chat template does over turns, where the model or the shape of episodes is chosen. */
function chatText({ dotted, loaded }: HoverTarget): string[] {
  const base = loaded?.ask(({ model }) => model.base);
  if (base === undefined || base === "tiny" || !isReadable(base)) return [];
  if (!/^model(\.base)?$|(^|\.)rollout\.shape$/.test(dotted)) return [];
  const look = modelFacts.look(base);
  return look.kind === "fit" && look.chat !== undefined ? [templateText(look.chat).join(" ")] : [];
}

function partsOf(seen: HoverTarget): string[] {
  const { located, root, loaded } = seen;
  const text = located.on === "value" ? textOf(located.node) : undefined;
  if (located.path[0] === "extends" && text !== undefined) {
    const preset = presetText(text);
    if (preset.length > 0) return preset;
  }
  const spot = spotAt(located.path, root, loaded?.root);
  if (spot === undefined) return argumentText(seen);
  const argument = argumentText(seen);
  if (argument.length > 0) return argument;
  return (text === undefined ? undefined : valueText(spot, text, seen)) ?? keyText(spot, seen);
}

/** A method, a function of one's own, a name: what the value itself says. */
function valueText(spot: Spot, text: string, seen: HoverTarget): string[] | undefined {
  const { located, dotted, loaded, root, file } = seen;
  const origin = originText(dotted, loaded, file);
  const slot = slotOf(spot);
  if (slot !== undefined) {
    const method = methodOf(slot, text);
    if (method !== undefined) return [...methodText(method), ...docsLink(method), ...origin];
    const own = slot === "reward" ? rewardText(text, folderOf(located.node, file)) : [];
    return own.length === 0 ? undefined : [...own, ...origin];
  }
  const schema = schemaOf(spot);
  const reference = schema === undefined ? undefined : referenceOf(unwrapped(schema));
  const named = reference === undefined ? [] : nameText(reference, text, loaded?.root ?? root, file);
  return named.length === 0 ? undefined : [...named, ...keyText(spot, seen)];
}

const folderOf = ({ origin }: SourceNode, file: string): string =>
  origin.folder === "" ? dirname(file) : origin.folder;

const titleOf = ({ summary }: Spot, dotted: string): string =>
  summary === "" ? `**${dotted}**` : `**${dotted}**: ${summary}`;

/** A term of a stage has from the top level what the stage does not say. */
const nodeAt = (root: SourceNode | undefined, path: readonly Step[]): SourceNode | undefined =>
  path.slice(-3).reduce<SourceNode | undefined>((node, step) => child(node, String(step)), root);

/** The key's summary, what it takes, what is chosen for it, and where that comes from. */
function keyText(spot: Spot, { located, dotted, loaded, file }: HoverTarget): string[] {
  const { on, node, path } = located;
  const term = on === "key" ? termAt(path) : undefined;
  const title =
    term === undefined ? titleOf(spot, dotted) : termText(term, [node, nodeAt(loaded?.root, path)]);
  const setting = on === "key" ? [`\`--set ${dotted}=…\``] : [];
  const above = node.kind === "scalar" ? inheritedText(path, dotted, loaded, file) : [];
  const end = [...scheduleText(node), ...originText(dotted, loaded, file), ...above, ...setting];
  if (spot.kind === "schema") return [title, ...takesText(spot.schema, defaultOf(spot.schema)), ...end];
  if (spot.kind === "method") return [title, ...end];
  const { shape } = spot;
  if (shape.kind === "value") return [title, ...takesText(shape.schema, usualText(path)), ...end];
  const chosen = chosenMethod(spot);
  if (chosen === undefined) return [title, ...end];
  const use = textOf(node) ?? textOf(child(node, "use"));
  const own =
    use !== undefined && fileReference(use) !== undefined ? rewardText(use, folderOf(node, file)) : [];
  return [title, ...(own.length > 0 ? own : [...methodText(chosen), ...docsLink(chosen)]), ...end];
}

function usualText(path: readonly Step[]): string {
  const node = usualAt(path);
  return node === undefined ? "" : ` ${defaultText(toJson(node))}`;
}

/** What a function of one's own does with a name below `args`. */
function argumentText({ located, root, loaded, file }: HoverTarget): string[] {
  const at = located.path.lastIndexOf("args");
  const name = located.path[at + 1];
  if (at < 0 || located.path[at - 2] !== "terms" || name === undefined) return [];
  const term = [root, loaded?.root].map((tree) =>
    located.path
      .slice(0, at)
      .reduce<SourceNode | undefined>(
        (node, step) => (node?.kind === "list" ? node.items[Number(step)] : child(node, String(step))),
        tree,
      ),
  );
  const use = term.map((node) => child(node, "use")).find((node) => node !== undefined);
  const found = use === undefined ? undefined : userFunction(textOf(use) ?? "", folderOf(use, file));
  const parameter = found?.signature.args.find((one) => one.name === String(name));
  if (parameter === undefined) return [];
  const type = parameter.type === undefined ? "" : `: ${parameter.type}`;
  const value = parameter.usual === undefined ? "" : ` = ${parameter.usual}`;
  return [`\`${parameter.name}${type}${value}\``, ...(parameter.says === undefined ? [] : [parameter.says])];
}

/** Items of named lists by their names, as `origins` and `--set` address them. */
function dottedPath(path: readonly Step[], root: SourceNode): string {
  let node: SourceNode | undefined = root;
  const words: string[] = [];
  for (const step of path) {
    const below: SourceNode | undefined =
      node?.kind === "list" && typeof step === "number" ? node.items[step] : child(node, String(step));
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
