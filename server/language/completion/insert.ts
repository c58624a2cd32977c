/** From an offer to the edit that writes it at the cursor: colon, indentation, quotes and commas as the place needs. */
import {
  CompletionItemKind,
  InsertTextFormat,
  InsertTextMode,
  type CompletionItem,
} from "vscode-languageserver";
import { plainly, quotedInside } from "./quoting.ts";
import type { Cursor } from "../tolerant/cursor.ts";
import type { KeyOffer, MethodOffer, Offer } from "./offer.ts";
import { sampleOf } from "./sample.ts";

export interface Client {
  /** Takes places to fill in. */
  readonly snippets: boolean;
  /** Knows the command that asks for more. */
  readonly suggest: boolean;
  /** Has a place for a few words after each label, where `detail` is next to the chosen one only. */
  readonly described?: boolean;
}

const kinds: Readonly<Record<Offer["kind"], CompletionItemKind>> = {
  key: CompletionItemKind.Property,
  method: CompletionItemKind.Function,
  word: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Reference,
  metric: CompletionItemKind.Event,
  preset: CompletionItemKind.Module,
  number: CompletionItemKind.Value,
  file: CompletionItemKind.File,
  folder: CompletionItemKind.Folder,
  export: CompletionItemKind.Method,
  field: CompletionItemKind.Field,
  snippet: CompletionItemKind.Snippet,
};

/** Text with `${n:…}` places and literal `$`, `}` and `\` escaped. */
interface SnippetText {
  readonly text: string;
  /** More is to be said where it ends. */
  readonly goesOn: boolean;
}

const escaped = (text: string): string => text.replaceAll(/[\\$}]/g, String.raw`\$&`);
const withoutPlaces = (snippet: string): string =>
  snippet.replaceAll(/(\\.)|\$\{\d+:((?:\\.|[^}])*)\}|\$\d+/g, (_, literal?: string, held?: string) =>
    literal === undefined ? (held ?? "").replaceAll(/\\(.)/g, "$1") : literal.slice(1),
  );

/** `order` keeps the offers as they came, whatever an editor sorts by. */
export function itemOf(offer: Offer, cursor: Cursor, client: Client, order: number): CompletionItem {
  const { text, goesOn } = writtenOf(offer, cursor);
  const before = cursor.gap ? " " : "";
  const whole = `${before}${text}${cursor.comma ? ", " : ""}`;
  const hasPlaces = client.snippets && withoutPlaces(whole) !== whole;
  const newText = hasPlaces ? whole : withoutPlaces(whole).replaceAll(/[ \t]+(?=\n)/g, "");
  const dashed = `${" ".repeat(cursor.lacks)}${cursor.dash ? "- " : ""}`;
  return {
    label: offer.text,
    kind: kinds[offer.kind],
    sortText: String(order).padStart(5, "0"),
    filterText: offer.text,
    textEdit: { range: cursor.range, newText: `${dashed}${newText}` },
    insertTextFormat: hasPlaces ? InsertTextFormat.Snippet : InsertTextFormat.PlainText,
    // Indentation is counted in columns of the document: nothing is to be added to it.
    insertTextMode: InsertTextMode.asIs,
    ...detailOf(offer, client),
    ...(offer.preselect === true ? { preselect: true } : {}),
    ...(cursor.shift.length === 0 ? {} : { additionalTextEdits: [...cursor.shift] }),
    ...(goesOn && client.suggest
      ? { command: { title: "Suggest", command: "editor.action.triggerSuggest" } }
      : {}),
  };
}

function detailOf({ detail }: Offer, { described }: Client): Pick<CompletionItem, "detail" | "labelDetails"> {
  if (detail === undefined || detail === "") return {};
  return described === true ? { labelDetails: { description: detail } } : { detail };
}

function writtenOf(offer: Offer, cursor: Cursor): SnippetText {
  switch (offer.kind) {
    case "key":
      return keyText(offer, cursor);
    case "method":
      return methodSnippet(offer, cursor);
    case "snippet":
      return { text: offer.snippet, goesOn: true };
    case "field":
      return { text: escaped(offer.text), goesOn: false };
    default:
      return { text: escaped(scalarText(offer, cursor)), goesOn: offer.kind === "folder" };
  }
}

/** A scalar within the quotes that are there, else plain where that says the same. */
function scalarText({ text, kind }: Offer, { quote }: Cursor): string {
  if (quote !== undefined) return quotedInside(text, quote);
  const isPlain = kind === "number" || (kind === "word" && /^(?:true|false)$/.test(text));
  return isPlain ? text : plainly(text);
}

function keyText({ text, opens }: KeyOffer, cursor: Cursor): SnippetText {
  const { flow, colon, last, above, quote, column, dash } = cursor;
  const name = quote === undefined ? escaped(plainly(text)) : escaped(quotedInside(text, quote));
  if (colon) return { text: name, goesOn: false };
  const ended = quote === undefined || quote.closed ? name : `${name}`;
  if (quote?.closed === true) return { text: name, goesOn: false };
  if (flow !== undefined) {
    const value = opens === "map" ? "{ $1 }" : opens === "list" ? "[$1]" : "$1";
    const pair = `${ended}: ${value}`;
    return { text: flow === "[" ? `{ ${pair} \\}` : pair, goesOn: true };
  }
  if (!last || above || opens === "value") return { text: `${ended}: `, goesOn: true };
  const inner = " ".repeat(column + (dash ? 2 : 0) + 2);
  return { text: `${ended}:\n${inner}${opens === "list" ? "- " : ""}`, goesOn: true };
}

/** With what the method cannot do without, unless that is there already. */
function methodSnippet({ text, needs, use }: MethodOffer, cursor: Cursor): SnippetText {
  const { path, flow, quote, last, column, siblings } = cursor;
  const name = quote === undefined ? escaped(plainly(text)) : escaped(quotedInside(text, quote));
  const missing = Object.entries(needs).filter(([key]) => !siblings.includes(key));
  if (missing.length === 0 || quote !== undefined) return { text: name, goesOn: false };
  const pairs = missing.map(
    ([key, schema], at) => `${key}: \${${at + 1}:${escaped(JSON.stringify(sampleOf(schema)))}}`,
  );
  const chosen = path.at(-1) === "use" || path.at(-1) === "env";
  if (!chosen) return { text: `{ ${use}: ${name}, ${pairs.join(", ")} \\}`, goesOn: false };
  if (flow !== undefined) return { text: `${name}, ${pairs.join(", ")}`, goesOn: false };
  if (!last) return { text: name, goesOn: false };
  return { text: [name, ...pairs].join(`\n${" ".repeat(column)}`), goesOn: false };
}
