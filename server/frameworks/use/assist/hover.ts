/** What is known of the setting under the cursor. */
import { trainers } from "../../../../shared/run/trainers.ts";
import type { Hover } from "vscode-languageserver";
import type { Position, Range } from "../../../lib/lines.ts";
import type { FrameworkDocument, Setting } from "../../text/document.ts";
import { standIn } from "../../rules/checkedRelease.ts";
import { lineText } from "../../text/notebook/lineText.ts";
import { geometryText, isBatchKey } from "../../rules/geometry.ts";
import { DocumentModel } from "../../rules/model.ts";
import { scheduleText } from "../../releases/facts/scheduleWords.ts";
import { historyOf, tableOf } from "../../releases/load.ts";
import type { KeyFact } from "../../releases/tables/table.ts";

export function frameworkHover(document: FrameworkDocument, position: Position): Hover | undefined {
  const found = settingAt(document, position);
  if (found === undefined) return undefined;
  const model = new DocumentModel(document);
  const parts = [
    heading(found.setting.key, model.fact(found.setting.key)),
    now(model, found.setting),
    wordText(found.setting),
    factText(model, found.setting.key),
    isBatchKey(found.setting.key) ? `**One step in numbers**\n${geometryText(model)}` : "",
  ];
  return {
    contents: { kind: "markdown", value: parts.filter((part) => part !== "").join("\n\n") },
    range: found.range,
  };
}

function settingAt(
  { settings }: FrameworkDocument,
  position: Position,
): { readonly setting: Setting; readonly range: Range } | undefined {
  for (const setting of settings)
    for (const range of [setting.keyRange, setting.range])
      if (contains(range, position)) return { setting, range };
  return undefined;
}

const contains = ({ start, end }: Range, { line, character }: Position): boolean =>
  (line > start.line || (line === start.line && character >= start.character)) &&
  (line < end.line || (line === end.line && character <= end.character));

function heading(key: string, fact: KeyFact | undefined): string {
  const type = fact === undefined || fact.type === "any" ? "" : ` · ${fact.type.replace("?", " or none")}`;
  return `\`${key}\`${type}`;
}

/** The value if the text does not show it. */
function now({ document }: DocumentModel, { key, value, text, source }: Setting): string {
  if (value === undefined) return "Its value here cannot be known.";
  const plain = JSON.stringify(value);
  const from = source === undefined ? "" : `, from ${lineText(document, source.start.line)}`;
  const resolved = text.includes("$") && plain !== text ? `Here \`${plain}\`${from}.` : "";
  const last = document.settings.findLast((setting) => setting.key === key);
  return last === undefined || last.value === value
    ? resolved
    : `${resolved} It is set to \`${last.text}\` on ${lineText(document, last.keyRange.start.line)}.`.trim();
}

function wordText({ key, value }: Setting): string {
  const text = scheduleText(key, value);
  return text === undefined ? "" : `\`${String(value)}\`: ${text}`;
}

export function factText(model: DocumentModel, key: string): string {
  const { document, facts } = model;
  const fact = facts.get(key);
  const name = `${trainers[document.framework].name} ${document.version.text}`;
  if (fact === undefined) return `${name} does not have this key.`;
  const lines = [
    fact.help ?? "",
    fact.choices === undefined
      ? ""
      : `One of ${fact.choices.map((choice) => `\`${String(choice)}\``).join(", ")}`,
    fact.plus === true ? "Not in the tree: `+` adds it." : "",
    [
      ...(fact.default === undefined ? [] : [`Default: \`${JSON.stringify(fact.default)}\``]),
      `${name}${sinceText(document, key)}`,
    ].join(" · "),
    standInText(model),
  ];
  return lines.filter((line) => line !== "").join("\n\n");
}

function standInText(model: DocumentModel): string {
  const other = standIn(model);
  return other === undefined ? "" : `From the table of ${other}: Gradus has no table of this release.`;
}

function sinceText({ framework }: FrameworkDocument, key: string): string {
  const rows = historyOf(framework, key);
  const first = Math.min(...rows.map(({ from }) => from));
  return rows.length === 0 || first === 0 ? "" : `, since ${tableOf(framework).versions[first] ?? ""}`;
}
