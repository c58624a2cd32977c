/**
 * Completion first shows what TRL and verl ship. What only papers describe is one item at the end, which asks again
 * with everything; so does a letter that is typed. Other editors show the whole list, ranked by the server.
 */
import {
  commands as editor,
  CompletionItem,
  CompletionItemKind,
  CompletionList,
  Range,
  SnippetString,
  window,
  type Disposable,
  type Position,
  type TextDocument,
} from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { register } from "../../vscode/commands.ts";

type Provided = CompletionItem[] | CompletionList | null | undefined;

/** The line for which research was asked for. */
let asked: string | undefined;
const lineOf = (document: TextDocument, { line }: Position): string => `${document.uri.toString()}#${line}`;

/** The list without research, and the item that asks for it; the list itself once it was, or where something is typed. */
export function withoutResearch(document: TextDocument, position: Position, provided: Provided): Provided {
  const wanted = asked === lineOf(document, position);
  asked = undefined;
  const items = provided instanceof CompletionList ? provided.items : (provided ?? []);
  const held = wanted ? [] : items.filter((item) => isResearch(item) && isUntyped(item, position));
  if (held.length === 0 || held.length === items.length) return provided;
  const shown = items.filter((item) => !held.includes(item));
  return new CompletionList([...shown, moreItem(held.length, position)], true);
}

/** The server marks it in `data`, which the client keeps. */
function isResearch(item: CompletionItem & { readonly data?: unknown }): boolean {
  const { data } = item;
  return typeof data === "object" && data !== null && "research" in data && data.research === true;
}

function isUntyped({ range }: CompletionItem, position: Position): boolean {
  const replaced = range === undefined || range instanceof Range ? range : range.inserting;
  return replaced === undefined || replaced.start.isEqual(position);
}

function moreItem(count: number, position: Position): CompletionItem {
  const item = new CompletionItem(
    { label: `research (${count})…`, description: "what papers describe, and TRL and verl do not ship" },
    CompletionItemKind.Folder,
  );
  item.sortText = "~";
  item.filterText = "";
  item.insertText = new SnippetString("$0");
  item.range = new Range(position, position);
  item.command = { title: "Suggest Research", command: commands.completionResearch };
  return item;
}

export const registerResearch = (): Disposable =>
  register("completionResearch", async () => {
    const active = window.activeTextEditor;
    if (active === undefined) return;
    asked = lineOf(active.document, active.selection.active);
    // A list that is open would be filtered, not asked for again.
    await editor.executeCommand("hideSuggestWidget");
    await editor.executeCommand("editor.action.triggerSuggest");
  });
