/** Fixes for rules: an edit changes the place of the value, which for `$X` is the line that sets X. */
import type { Fix, TextEdit } from "../config/check/diagnostic.ts";
import type { Setting } from "./document.ts";

/** Writes another value; undefined where one written value holds several settings. */
export function changeTo(
  setting: Setting,
  value: string | number | boolean,
  title?: string,
  preferred = true,
): Fix | undefined {
  if (setting.shared === true) return undefined;
  const edits = [valueEdit(setting, String(value))];
  return { title: title ?? `Change to \`${value}\``, edits, preferred };
}

/** A flag without a value (`--switch`) gets its value after it. */
export function valueEdit({ source, range, keyRange, text }: Setting, newText: string): TextEdit {
  const alone =
    range.start.line === keyRange.start.line && range.start.character === keyRange.start.character;
  if (alone && text === "")
    return { range: { start: keyRange.end, end: keyRange.end }, newText: ` ${newText}` };
  return { range: source ?? range, newText };
}
