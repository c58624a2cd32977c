import { CompletionItemKind, MarkupKind, type CompletionItem } from "vscode-languageserver";
import { metrics } from "../../shared/metrics.ts";
import { listPresets } from "../config/index.ts";
import { nameOf } from "../config/method.ts";
import { child, type SourceNode } from "../config/node.ts";
import type { Position } from "../config/diagnostic.ts";
import { cursorAt, type Cursor } from "./cursor.ts";
import { keysAt, spotAt, valuesAt, type Offer, type Spot } from "./spot.ts";

/** What may be written at a position. `merged` is the config as it last resolved. */
export function completions(
  text: string,
  position: Position,
  merged: SourceNode | undefined,
): CompletionItem[] {
  const cursor = cursorAt(text, position);
  if (cursor === undefined) return [];
  const spot = spotAt(cursor.path, cursor.root, merged);
  const named = namesFor(cursor, merged);
  if (named !== undefined && cursor.writing !== "key")
    return named.map((offer) => item(offer, CompletionItemKind.Value, cursor));
  if (spot === undefined) return [];
  const keys = cursor.writing === "value" ? [] : keysAt(spot);
  const values = cursor.writing === "key" ? [] : valuesAt(spot);
  return [
    ...keys
      .filter(({ text: key }) => !cursor.taken.includes(key))
      .map((offer) => item(offer, CompletionItemKind.Property, cursor, spot)),
    ...values.map((offer) => item(offer, CompletionItemKind.EnumMember, cursor)),
  ];
}

function item(
  { text, detail }: Offer,
  kind: CompletionItemKind,
  { range }: Cursor,
  spot?: Spot,
): CompletionItem {
  const newText = spot === undefined ? text : `${text}: `;
  return {
    label: text,
    kind,
    documentation: { kind: MarkupKind.Markdown, value: detail },
    textEdit: { range, newText },
    filterText: text,
  };
}

/** Values that are names of other things: presets, metrics, terms, tasks. */
function namesFor({ path }: Cursor, merged: SourceNode | undefined): Offer[] | undefined {
  const keys = path.filter((step) => typeof step === "string");
  const last = keys.at(-1);
  if (path[0] === "extends") return listPresets().map(({ id, title }) => ({ text: id, detail: title }));
  const terms = entriesOf(child(child(merged, "reward"), "terms"));
  if (last === "metric") {
    return metrics.flatMap(({ name, summary }) =>
      name.includes("<term>")
        ? terms.map((term) => ({ text: name.replace("<term>", term), detail: summary }))
        : /[<@]/.test(name)
          ? []
          : [{ text: name, detail: summary }],
    );
  }
  if (last === "terms" && keys.at(-2) === "success")
    return terms.map((text) => ({ text, detail: "A reward term." }));
  if (last === "tasks" && keys.at(-3) === "terms")
    return taskNames(merged).map((text) => ({ text, detail: "A task." }));
  if (last === "model" && keys[0] === "kl")
    return [{ text: "reference", detail: "The policy as it enters the first rl stage." }];
  return undefined;
}

const entriesOf = (node: SourceNode | undefined): string[] =>
  node?.kind === "map" ? [...node.entries.keys()] : [];

function taskNames(merged: SourceNode | undefined): string[] {
  const tasks = child(merged, "tasks");
  return tasks?.kind === "list" ? tasks.items.flatMap((task) => nameOf(task, "task") ?? []) : [];
}
