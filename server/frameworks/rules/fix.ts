/** Fixes for rules: an edit changes the place of the value, which for `$X` is the line that sets X. */
import type { Fix, TextEdit } from "../../config/check/diagnostic.ts";
import type { Setting } from "../text/document.ts";
import type { RuleModel } from "./rule.ts";

/** Writes another value; no fix without a setting or a value, or where one written value holds several settings. */
export function changeTo(
  setting: Setting | undefined,
  value: string | number | undefined,
  title = `Change to \`${value}\``,
  preferred = true,
): Fix[] {
  if (setting === undefined || setting.shared === true || value === undefined) return [];
  return [{ title, edits: [valueEdit(setting, String(value))], preferred }];
}

/** Writes a flag, as the document's language spells it. */
export const switchTo = ({ document }: RuleModel, setting: Setting | undefined, on: boolean): Fix[] =>
  changeTo(setting, document.form === "python" ? (on ? "True" : "False") : String(on));

/** A flag without a value (`--switch`) gets its value after it. */
export function valueEdit({ source, range, keyRange, text }: Setting, newText: string): TextEdit {
  const alone =
    range.start.line === keyRange.start.line && range.start.character === keyRange.start.character;
  if (alone && text === "")
    return { range: { start: keyRange.end, end: keyRange.end }, newText: ` ${newText}` };
  return { range: source ?? range, newText };
}
