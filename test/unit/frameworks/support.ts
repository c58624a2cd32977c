/** What tests of other frameworks' configurations share. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Range } from "../../../server/lib/lines.ts";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import {
  checkFrameworkDocument,
  readFrameworkDocument,
  type FrameworkDocument,
  type Setting,
} from "../../../server/frameworks/check/index.ts";

/** A folder without environments or requirements above it. */
const nowhere = join(tmpdir(), "gradus-frameworks-nowhere");

export function read(name: string, text: string): FrameworkDocument {
  const document = readFrameworkDocument(join(nowhere, name), text, { environment: "" });
  assert.ok(document, `${name} is not recognised`);
  return document;
}

export const isFramework = (name: string, text: string): boolean =>
  readFrameworkDocument(join(nowhere, name), text, { environment: "" }) !== undefined;

/** What is wrong with keys and values by themselves: the frameworks' own rules have tests of their own. */
export const check = (name: string, text: string): readonly Diagnostic[] =>
  checkFrameworkDocument(read(name, text)).filter(({ rule }) => rule.startsWith("foreign-"));

/** What is at a range. */
export function textAt(text: string, { start, end }: Range): string {
  const lines = text.split("\n");
  const offset = ({ line, character }: Range["start"]): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return text.slice(offset(start), offset(end));
}

export interface Shown {
  readonly key: string;
  readonly value: Setting["value"];
  /** What is at its ranges. */
  readonly at: readonly (string | undefined)[];
}

/** Every setting with the text at its key, its value and the value's source. */
export const shown = (document: FrameworkDocument): Shown[] =>
  document.settings.map(({ key, value, keyRange, range, source, sign }) => ({
    key: `${sign}${key}`,
    value,
    at: [
      textAt(document.text, keyRange),
      textAt(document.text, range),
      source === undefined ? undefined : textAt(document.text, source),
    ],
  }));

/** `severity rule: text at its range`. */
export const briefly = (name: string, text: string): string[] =>
  check(name, text).map(({ severity, rule, range }) => `${severity} ${rule}: ${textAt(text, range)}`);

/** A text after the first fix of its first diagnostic. */
export function mended(name: string, text: string): string {
  const [edit] = check(name, text)[0]?.fixes[0]?.edits ?? [];
  assert.ok(edit, "no fix");
  const lines = text.split("\n");
  const { start, end } = edit.range;
  const before = [...lines.slice(0, start.line), lines[start.line]!.slice(0, start.character)].join("\n");
  const after = [lines[end.line]!.slice(end.character), ...lines.slice(end.line + 1)].join("\n");
  return `${before}${edit.newText}${after}`;
}
