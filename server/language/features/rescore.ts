/** Live re-scoring: what an edit of the reward would have changed, at the end of its line; a sweep of a weight in its hover. */
import {
  CodeActionKind,
  MarkupKind,
  type CodeAction,
  type InlayHint,
  type Position,
  type Range,
} from "vscode-languageserver";
import { commands } from "../../../shared/editor/contributions.ts";
import { endOfLine, rangeOf } from "../../analysis/evidence/place.ts";
import type { OpenConfig } from "../documents.ts";
import type { LanguageContext } from "../feature.ts";
import { locate } from "../locate.ts";
import {
  changeLabel,
  changeText,
  overLabel,
  sweepText,
  termLabel,
} from "../../../shared/rollouts/rescoreText.ts";

const prefix = "reward.terms.";

export function rescoreHints({ rescoring, editor }: LanguageContext, open: OpenConfig): InlayHint[] {
  const live = rescoring?.of(open);
  if (live === undefined) return [];
  const { rescored, changed } = live;
  const tooltip = { kind: MarkupKind.Markdown, value: changeText(rescored) };
  const open_ = {
    title: "Show the rollouts that changed most",
    command: commands.rescoreOpen,
    arguments: [open.uri],
  };
  return changed.flatMap((path, index): InlayHint[] => {
    const own = path.startsWith(prefix) ? termLabel(rescored, path.slice(prefix.length)) : undefined;
    const parts = [
      ...(index === 0 ? [changeLabel(rescored)] : []),
      ...(own === undefined ? [] : [own]),
      ...(index === 0 ? [overLabel(rescored)] : []),
    ];
    if (parts.length === 0) return [];
    const value = parts.join(" · ");
    return [
      {
        position: endOfLine(open.text, rangeOf(open.root, path).start.line),
        label: editor().lenses ? [{ value, tooltip, command: open_ }] : value,
        tooltip,
        paddingLeft: true,
      },
    ];
  });
}

/** Where a position is in a term, the term. */
function termAt({ root }: OpenConfig, position: Position): { term: string; onWeight: boolean } | undefined {
  const path = root === undefined ? undefined : locate(root, position)?.path;
  const at = path?.findIndex((step, index) => step === "terms" && path[index - 1] === "reward") ?? -1;
  const term = path?.[at + 1];
  if (path === undefined || at < 0 || typeof term !== "string") return undefined;
  return { term, onWeight: path[at + 2] === "weight" };
}

export function rescoreActions(
  { rescoring, editor }: LanguageContext,
  open: OpenConfig | undefined,
  range: Range,
  only: readonly string[] | undefined,
): CodeAction[] {
  const wanted = only === undefined || only.some((kind) => CodeActionKind.Refactor.startsWith(kind));
  if (open === undefined || rescoring === undefined || !editor().lenses || !wanted) return [];
  const action = (title: string, command: string, words: readonly unknown[]): CodeAction => ({
    title,
    kind: CodeActionKind.Refactor,
    command: { title, command, arguments: [open.uri, ...words] },
  });
  const term = termAt(open, range.start)?.term;
  const live = rescoring.of(open);
  const near =
    live?.changed.some((path) => rangeOf(open.root, path).start.line === range.start.line) ?? false;
  return [
    ...(near ? [action("Show the rollouts that this edit changes most", commands.rescoreOpen, [])] : []),
    ...(term === undefined || !rescoring.has(open)
      ? []
      : [action(`Sweep the weight of \`${term}\`…`, commands.rescoreSweep, [term])]),
  ];
}

/** Markdown for the hover of a weight. */
export async function sweepHover(
  { rescoring, editor, connection }: LanguageContext,
  open: OpenConfig,
  position: Position,
): Promise<string | undefined> {
  const at = termAt(open, position);
  if (rescoring === undefined || at === undefined || !at.onWeight) return undefined;
  try {
    const swept = await rescoring.sweep(open, at.term, editor().trusted);
    return swept === undefined ? undefined : sweepText(swept, editor().lenses);
  } catch (error) {
    // A hover that cannot be drawn says what else it knows.
    connection.console.log(`sweep: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
