/** Fixes that remove a setting. */
import type { Fix } from "../../config/check/diagnostic.ts";
import type { Setting } from "../text/document.ts";
import type { RuleModel } from "./rule.ts";

/** Removes a setting that has its own line; no fix if it shares one with others. */
export function removal({ document }: RuleModel, setting: Setting): Fix[] {
  const { keyRange, range, key } = setting;
  const line = document.text.split("\n")[keyRange.start.line] ?? "";
  const before = line.slice(0, keyRange.start.character);
  const after = line.slice(range.end.character).replace(/\r$/, "");
  const alone = /^\s*(--)?$/.test(before) && /^["']?[ \t]*[,\\]?[ \t]*(#.*)?$/.test(after);
  if (
    !alone ||
    range.end.line !== keyRange.start.line ||
    setting.shared === true ||
    setting.inherited === true
  )
    return [];
  // The last line of a command ends it: without it the line before would continue.
  if (document.form === "script" && !after.trimEnd().endsWith("\\")) return [];
  const start = { line: keyRange.start.line, character: 0 };
  const end = { line: keyRange.start.line + 1, character: 0 };
  return [{ title: `Remove \`${key}\``, edits: [{ range: { start, end }, newText: "" }] }];
}
