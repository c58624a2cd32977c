/** What may be written at a position: keys, values and names, with the text that writes each. */
import type { CompletionItem, MarkupContent } from "vscode-languageserver";
import { MarkupKind } from "vscode-languageserver";
import { withDefaults } from "../../config/stages.ts";
import type { Position } from "../../lib/lines.ts";
import {
  child,
  mapNode,
  startOfFile,
  toJson,
  type MapNode,
  type SourceNode,
} from "../../config/text/node.ts";
import { referenceOf } from "../../core/references.ts";
import { unwrapped } from "../../config/check/values.ts";
import { argumentKeys, isArguments } from "./arguments.ts";
import { itemOf, type Client } from "./insert.ts";
import { defaultWord, keysAt, namedKeys } from "./keys.ts";
import { sweptKeys } from "./sweptKeys.ts";
import { keysUsed, valuesUsed } from "./likelihood.ts";
import { takesFile } from "../../config/check/method.ts";
import { fieldsAt, namedAt, nodeAt, parents, ownOffers, type Surroundings } from "./named.ts";
import type { KeyOffer, Offer } from "./offer.ts";
import { valuesAt } from "./values.ts";
import { cursorAt, type Cursor } from "../tolerant/cursor.ts";
import { slotOf, spotAt, type Spot, type Step } from "../spot.ts";
import { usualAt } from "../usual.ts";

export interface Completions {
  readonly items: CompletionItem[];
  /** Whether an item may be left out until the person asks for research, by its place in the list. */
  research(index: number): boolean;
  /** The text next to an item, by its place in the list. */
  says(index: number): MarkupContent | undefined;
}

interface CompletionPlace {
  readonly text: string;
  readonly position: Position;
  /** The config as it last resolved. */
  readonly merged: MapNode | undefined;
  readonly file: string;
  readonly client: Client;
}

const nothing: Completions = { items: [], research: () => false, says: () => undefined };

export function completionsAt({ text, position, merged, file, client }: CompletionPlace): Completions {
  const cursor = cursorAt(text, position);
  if (cursor === undefined) return nothing;
  const whole = wholeOf(merged, file);
  const around: Surroundings = { cursor, merged: whole, file };
  const { offers, at } = inTemplate(around) ?? { offers: sorted(offersAt(around), cursor), at: cursor };
  // Within quotes a map or a list would be text.
  const fitting = at.quote === undefined ? offers : offers.filter(({ kind }) => kind !== "snippet");
  return {
    items: fitting.map((offer, index) => itemOf(offer, at, client, index)),
    research: (index) => fitting[index]?.research === true,
    says: (index) => {
      const value = fitting[index]?.says?.();
      return value === undefined || value === "" ? undefined : { kind: MarkupKind.Markdown, value };
    },
  };
}

const complete = new WeakMap<MapNode, MapNode>();

/** With the defaults, which a config that could not be read lacks. */
function wholeOf(merged: MapNode | undefined, file: string): MapNode {
  const root = merged ?? mapNode(unwritten(file), []);
  const whole = complete.get(root) ?? withDefaults(root);
  complete.set(root, whole);
  return whole;
}

const unwritten = (file: string) =>
  ({ file, folder: "", range: startOfFile, via: [], layer: "default" }) as const;

function offersAt(around: Surroundings): Offer[] {
  const { cursor, merged } = around;
  const { path, writing, taken } = cursor;
  if (path[0] === "extends") return writing === "key" ? [] : parents(around);
  if (isArguments(path) && writing !== "value")
    return argumentKeys(around).filter(({ text }) => !taken.includes(text));
  const spot = spotAt(path, cursor.root, merged);
  if (spot === undefined) return [];
  const keys =
    writing === "value"
      ? []
      : [
          ...keysAt(spot, path.length === 0).map((key) => withDefault(key, path)),
          ...nameKeys(spot, around),
          ...sweptKeys(path, cursor.root, merged),
        ];
  const values = writing === "key" || path.length === 0 ? [] : withUsual(valuesFor(spot, around), cursor);
  const unique = new Map([...keys, ...values].map((offer) => [`${offer.kind} ${offer.text}`, offer]));
  return [...unique.values()].filter((offer) => offer.kind !== "key" || !taken.includes(offer.text));
}

/** Keys that are names, as those of models are in `on_enter.init`. */
function nameKeys(spot: Spot, around: Surroundings): KeyOffer[] {
  const reference = namedKeys(spot);
  if (reference === undefined) return [];
  return namedAt(around)(reference).map(({ text }) => ({
    kind: "key",
    text,
    opens: "value",
    required: false,
  }));
}

/** One tree holds the defaults of the grammar's keys. */
function withDefault(key: KeyOffer, path: readonly Step[]): KeyOffer {
  if (key.detail !== undefined && key.detail !== "") return key;
  const usual = usualAt([...path, key.text]);
  const scalar = usual?.kind === "map" ? (child(usual, "use") ?? child(usual, "base")) : usual;
  return scalar?.kind === "scalar" ? { ...key, detail: defaultWord(scalar.value) } : key;
}

function valuesFor(spot: Spot, around: Surroundings): Offer[] {
  const { cursor } = around;
  const values = valuesAt(spot, namedAt(around));
  const siblings = listedNames(cursor);
  const slot = slotOf(spot);
  const all =
    slot !== undefined && takesFile(slot)
      ? [...(/[./]/.test(cursor.before) ? [] : values), ...ownOffers(around, slot)]
      : values;
  // On a line of its own a map or a list begins with its first key or dash, not with a bracket.
  const ownLine =
    cursor.writing === "either" && cursor.flow === undefined && typeof cursor.path.at(-1) === "string";
  const fitting = ownLine ? all.filter(({ text }) => !/^[[{]/.test(text)) : all;
  return fitting.filter(({ text }) => !siblings.has(text));
}

/** What a list that names things has already. */
function listedNames({ path, root }: Cursor): ReadonlySet<string> {
  if (typeof path.at(-1) !== "number") return new Set();
  const list = nodeAt(root, path.slice(0, -1));
  const items = list?.kind === "list" ? list.items : [];
  return new Set(items.flatMap((item) => (item.kind === "scalar" ? String(item.value) : [])));
}

/** Inside the braces of a template only a field is written. */
function inTemplate(around: Surroundings): { offers: Offer[]; at: Cursor } | undefined {
  const { cursor, merged } = around;
  const written = /\{([\w.-]*)$/.exec(cursor.before)?.[1];
  if (written === undefined || cursor.writing === "key") return undefined;
  const spot = spotAt(cursor.path, cursor.root, merged);
  const schema = spot?.kind === "schema" ? spot.schema : undefined;
  const reference = schema === undefined ? undefined : referenceOf(unwrapped(schema));
  if (reference?.to !== "template") return undefined;
  const rest = /^[\w.-]*/.exec(cursor.after)?.[0] ?? "";
  const closes = cursor.after.slice(rest.length).startsWith("}") ? "" : "}";
  const { line } = cursor.range.start;
  const character = cursor.range.start.character + cursor.before.length;
  const start = { line, character: character - written.length };
  const range = { start, end: { line, character: character + rest.length } };
  const offers = fieldsAt(around, reference.fields).map(({ path, example }): Offer => ({
    kind: "field",
    text: `${path}${closes}`,
    detail: example,
  }));
  return { offers, at: { ...cursor, range } };
}

/** Higher than any place's count within a tier, lower than the ranks that offers bring. */
const tierWidth = 100;

/**
 * What is required first, then what TRL or verl ship, then by how often published methods choose it, then as it was
 * declared.
 */
function sorted(offers: readonly Offer[], { path }: Cursor): Offer[] {
  const keys = keysUsed(path);
  const values = valuesUsed(path);
  const rank = (offer: Offer): number => {
    if (offer.kind === "key") return offer.required ? -1_000 : -(keys.get(offer.text) ?? 0);
    if (offer.preselect === true) return -1_000;
    const used = Math.min(values.get(offer.text) ?? 0, tierWidth - 1);
    return offer.rank ?? (offer.tier ?? 0) * tierWidth - used;
  };
  return offers
    .map((offer, index) => ({ offer, index, rank: rank(offer) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ offer }) => offer);
}

/** Marks the default; the user's own number or list begins with it. */
function withUsual(values: readonly Offer[], { path }: Cursor): Offer[] {
  const usual = usualOffer(usualAt(path));
  if (usual === undefined) return [...values];
  const known = values.some(({ text }) => text === usual.text);
  const own = known || usual.kind === "word" ? [] : [usual];
  return [...own, ...values].map((offer) =>
    offer.text === usual.text ? { ...offer, detail: "default", preselect: true } : offer,
  );
}

function usualOffer(node: SourceNode | undefined): Offer | undefined {
  if (node?.kind === "list") {
    const text = `[${node.items.map((item) => JSON.stringify(toJson(item))).join(", ")}]`;
    return node.items.length === 0 ? undefined : { kind: "snippet", text, snippet: text };
  }
  const scalar = node?.kind === "map" ? (child(node, "use") ?? child(node, "base")) : node;
  if (scalar?.kind !== "scalar" || scalar.value === null || scalar.value === "") return undefined;
  return { kind: typeof scalar.value === "number" ? "number" : "word", text: String(scalar.value) };
}
