/** Keys and values that fit at the cursor. */
import { CompletionItemKind, type CompletionItem } from "vscode-languageserver";
import type { Json } from "../../../../shared/lib/json.ts";
import type { Position, Range } from "../../../lib/lines.ts";
import type { FrameworkDocument } from "../../text/document.ts";
import { scheduleText } from "../../releases/facts/scheduleWords.ts";
import { DocumentModel } from "../../rules/model.ts";
import { factText } from "./hover.ts";
import { siteAt, type CursorSite } from "./site.ts";

export function frameworkCompletions(document: FrameworkDocument, position: Position): CompletionItem[] {
  const site = siteAt(document, position);
  if (site === undefined) return [];
  const { tree } = site;
  // Not the call that the document was read from: its existing keywords are unknown.
  const other = tree !== undefined && tree !== document.tree;
  const model = new DocumentModel(other ? { ...document, tree, settings: [] } : document);
  return site.kind === "value" ? values(model, site) : keys(model, site);
}

/** Editors filter; what is far down the tree comes last. */
function keys(model: DocumentModel, site: Extract<CursorSite, { readonly kind: "key" }>): CompletionItem[] {
  const { facts, document } = model;
  const written = new Set(document.settings.map(({ key }) => key));
  const below = facts.keys.filter((key) => key.startsWith(site.section) && !key.endsWith("_target_"));
  const own = below.filter((key) =>
    document.form === "python"
      ? facts.get(key)?.owner === "config"
      : site.style !== "yaml" || facts.get(key)?.group !== true,
  );
  const leaves = own
    .filter((key) => !written.has(key) || key === site.current)
    .filter((key) => site.depth === "all" || !key.slice(site.section.length).includes("."));
  const sections = new Set(
    own.flatMap((key) => {
      const rest = key.slice(site.section.length);
      return rest.includes(".") ? [rest.slice(0, rest.indexOf("."))] : [];
    }),
  );
  return [
    ...[...sections].map((name) => sectionItem(name, site)),
    ...leaves.map((key) => leafItem(model, key, site)),
  ];
}

type KeySite = Extract<CursorSite, { readonly kind: "key" }>;

function sectionItem(name: string, site: KeySite): CompletionItem {
  const end = site.style === "yaml" ? ":\n" + " ".repeat(site.range.start.character + 2) : ".";
  const text = `${site.style === "yaml" ? "" : site.section}${name}`;
  return {
    label: text,
    kind: CompletionItemKind.Module,
    sortText: `0${name}`,
    filterText: text,
    textEdit: { range: site.range, newText: `${text}${end}` },
    command: { title: "Suggest", command: "editor.action.triggerSuggest" },
  };
}

function leafItem(model: DocumentModel, key: string, site: KeySite): CompletionItem {
  const fact = model.fact(key);
  const label = site.style === "yaml" ? key.slice(site.section.length) : key;
  const ends = { yaml: ": ", hydra: "=", flag: " ", python: "=" } as const;
  const plus = site.style === "hydra" && fact?.plus === true && site.sign === "" ? "+" : "";
  const dashes = site.style === "flag" ? "--" : "";
  const isSwitch = site.style === "flag" && fact?.type === "bool" && model.document.framework === "openrlhf";
  const depth = label.slice(site.style === "hydra" ? site.section.length : 0).split(".").length;
  return {
    label: `${dashes}${label}`,
    kind: CompletionItemKind.Property,
    ...(fact?.default === undefined ? {} : { detail: JSON.stringify(fact.default) }),
    sortText: `${depth}${fact?.plus === true ? "1" : "0"}${label}`,
    filterText: `${dashes}${label}`,
    documentation: { kind: "markdown", value: factText(model, key) },
    textEdit: { range: site.range, newText: `${plus}${dashes}${label}${isSwitch ? "" : ends[site.style]}` },
  };
}

function values(
  model: DocumentModel,
  { key, range, style }: Extract<CursorSite, { readonly kind: "value" }>,
): CompletionItem[] {
  const fact = model.fact(key);
  if (fact === undefined) return [];
  const flags: Json[] = fact.type.startsWith("bool") ? [true, false] : [];
  const known = [...(fact.choices ?? []), ...flags];
  const fallback =
    known.length > 0 || fact.default === undefined || typeof fact.default === "object" ? [] : [fact.default];
  return [...known, ...fallback].map((value, i): CompletionItem => {
    const says = scheduleText(key, value);
    return {
      ...valueItem(value, value === fact.default, i, range, style),
      ...(says === undefined ? {} : { documentation: { kind: "markdown", value: says } }),
    };
  });
}

function valueItem(
  value: Json,
  isDefault: boolean,
  i: number,
  range: Range,
  style: CursorSite["style"],
): CompletionItem {
  const text = written(value, style);
  return {
    label: text,
    kind: CompletionItemKind.Value,
    ...(isDefault ? { detail: "default" } : {}),
    sortText: String(i).padStart(3, "0"),
    filterText: text,
    textEdit: { range, newText: text },
  };
}

function written(value: Json, style: CursorSite["style"]): string {
  if (typeof value === "boolean") return style === "yaml" ? String(value) : value ? "True" : "False";
  if (value === null) return style === "python" ? "None" : "null";
  return style === "python" && typeof value === "string" ? JSON.stringify(value) : String(value);
}
