/** Fixes for verl's rules: they change a value that is set, and add a setting that is not. */
import type { Fix, TextEdit } from "../../../config/check/diagnostic.ts";
import type { Setting } from "../../text/document.ts";
import { changeTo } from "../../rules/fix.ts";
import type { RuleModel } from "../../rules/rule.ts";
import { shortName } from "./rule.ts";

type NewValue = string | number | boolean;

/** Sets a key, wherever it has to be written for that. @param because the arithmetic: `8 × 128` */
export function setTo(model: RuleModel, key: string, value: NewValue, because?: string): Fix | undefined {
  const written = model.written(key);
  const text = spelt(model, value);
  const title = `Set \`${shortName(key)}\` to ${text}${because === undefined ? "" : ` (${because})`}`;
  return written === undefined ? inserted(model, key, text, title) : changeTo(written, text, title)[0];
}

/** Changes a key where it is written, and offers nothing where it is not. */
export const changed = (
  model: RuleModel,
  key: string,
  value: number | undefined,
  because?: string,
): Fix | undefined =>
  value === undefined || model.written(key) === undefined ? undefined : setTo(model, key, value, because);

const spelt = ({ document }: RuleModel, value: NewValue): string =>
  typeof value === "boolean" && document.form === "script" ? (value ? "True" : "False") : String(value);

/** Adds a setting after the last one of the launch, or next to its neighbours in the file. */
function inserted({ document }: RuleModel, key: string, value: string, title: string): Fix | undefined {
  const placed = document.settings.filter(({ shared, inherited }) => shared !== true && inherited !== true);
  const edit =
    document.form === "script"
      ? afterLast(placed, document.text, key, value)
      : belowNeighbour(placed, document.text, key, value);
  return edit === undefined ? undefined : { title, edits: [edit], preferred: true };
}

function afterLast(
  placed: readonly Setting[],
  text: string,
  key: string,
  value: string,
): TextEdit | undefined {
  const last = placed.at(-1);
  if (last === undefined) return undefined;
  const { keyRange, range, sign } = last;
  const before = lineOf(text, keyRange.start.line).slice(0, keyRange.start.character - sign.length);
  const continued = [keyRange.start.line - 1, range.end.line].some((line) =>
    lineOf(text, line).endsWith("\\"),
  );
  const gap = before.trim() !== "" ? " " : `${continued ? " \\" : ""}\n${before}`;
  return { range: { start: range.end, end: range.end }, newText: `${gap}${key}=${value}` };
}

function belowNeighbour(
  placed: readonly Setting[],
  text: string,
  key: string,
  value: string,
): TextEdit | undefined {
  const at = key.lastIndexOf(".");
  const [section, name] = [key.slice(0, at), key.slice(at + 1)];
  const neighbour = placed.findLast(
    (setting) => setting.key.slice(0, setting.key.lastIndexOf(".")) === section,
  );
  if (neighbour === undefined) return undefined;
  const { start } = neighbour.keyRange;
  const line = lineOf(text, start.line);
  const before = line.slice(0, start.character);
  // A map within braces, or a value of several lines, gets no fix.
  if (before.trim() !== "" || neighbour.range.end.line !== start.line) return undefined;
  const end = { line: start.line, character: line.length };
  return { range: { start: end, end }, newText: `\n${before}${name}: ${value}` };
}

const lineOf = (text: string, line: number): string => (text.split("\n")[line] ?? "").replace(/\r$/, "");
