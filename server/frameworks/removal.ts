/** Mends that take a setting away. */
import type { Fix } from "../config/check/diagnostic.ts";
import type { Setting } from "./document.ts";
import type { FrameworkModel } from "./rule.ts";

/** Leaves a setting out where it has a line of its own; none where it shares one with others. */
export function removal({ document }: FrameworkModel, setting: Setting): Fix[] {
  const { keyRange, range, key } = setting;
  const line = document.text.split("\n")[keyRange.start.line] ?? "";
  const before = line.slice(0, keyRange.start.character);
  const behind = line.slice(range.end.character).replace(/\r$/, "");
  const alone = /^\s*(--)?$/.test(before) && /^["']?[ \t]*[,\\]?[ \t]*(#.*)?$/.test(behind);
  if (
    !alone ||
    range.end.line !== keyRange.start.line ||
    setting.shared === true ||
    setting.inherited === true
  )
    return [];
  // The last of a command's lines ends it: the one before would go on.
  if (document.form === "script" && !behind.trimEnd().endsWith("\\")) return [];
  const start = { line: keyRange.start.line, character: 0 };
  const end = { line: keyRange.start.line + 1, character: 0 };
  return [{ title: `Remove \`${key}\``, edits: [{ range: { start, end }, newText: "" }] }];
}
