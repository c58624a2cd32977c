/** A computed value at the end of the line that it follows from. */
import { InlayHintKind, MarkupKind, type InlayHint } from "vscode-languageserver";
import type { Position } from "../../lib/lines.ts";
import { formatCount } from "../../../shared/lib/format.ts";

export interface Hint {
  /** The line whose text it follows. */
  readonly line: number;
  readonly label: string;
  /** Markdown: how it was computed. */
  readonly detail: string;
}

export function toInlayHint({ line, label, detail }: Hint, lines: readonly string[]): InlayHint {
  const position: Position = { line, character: (lines[line] ?? "").trimEnd().length };
  return {
    position,
    label,
    kind: InlayHintKind.Type,
    paddingLeft: true,
    tooltip: { kind: MarkupKind.Markdown, value: detail },
  };
}

/** 10,240, also where it is small or large. */
export const whole = (value: number): string => formatCount(Math.round(value));
