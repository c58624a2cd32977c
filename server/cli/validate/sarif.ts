/** Diagnostics in SARIF 2.1.0, which code hosts show next to a change. https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
import { createHash } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Range } from "../../lib/lines.ts";
import type { Diagnostic, Fix, Severity } from "../../config/check/diagnostic.ts";
import { pageOfRule } from "../../language/hovers/rulePages.ts";
import { rulePageFile } from "../../config/text/rulePages.ts";
import type { Checked } from "./check.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

declare const GRADUS_VERSION: string;

const levels = { error: "error", warning: "warning", info: "note" } as const;

export function sarif(checked: readonly Checked[], folder = process.cwd()): JsonObject {
  // A region is of the file: a notebook's lines are those of its JSON.
  const all = checked.flatMap(({ diagnostics, written }) => written ?? diagnostics);
  const ids = [...new Set(all.map(({ rule }) => rule))].sort();
  const severityOf = (id: string): Severity => all.find(({ rule }) => rule === id)?.severity ?? "error";
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "gradus",
            version: GRADUS_VERSION,
            rules: ids.map((id) => ruleOf(id, severityOf(id))),
          },
        },
        columnKind: "utf16CodeUnits",
        originalUriBaseIds: { "%SRCROOT%": { uri: `${pathToFileURL(folder).href.replace(/\/$/, "")}/` } },
        invocations: [{ executionSuccessful: true }],
        artifacts: checked.map(({ file }) => ({ location: artifact(resolve(folder, file), folder) })),
        results: all.map((diagnostic) => resultOf(diagnostic, ids.indexOf(diagnostic.rule), folder)),
      },
    ],
  };
}

function ruleOf(id: string, severity: Severity): JsonObject {
  const page = pageOfRule(id);
  const file = rulePageFile(id);
  return {
    id,
    ...(page === undefined
      ? {}
      : {
          shortDescription: { text: page.title },
          fullDescription: { text: page.why },
          help: { text: `${page.title}. ${page.why}`, markdown: `**${page.title}**\n\n${page.why}` },
        }),
    ...(file === undefined ? {} : { helpUri: pathToFileURL(file).href }),
    defaultConfiguration: { level: levels[severity] },
  };
}

function resultOf(diagnostic: Diagnostic, ruleIndex: number, folder: string): JsonObject {
  const { rule, severity, message, key, file, range, fixes, related = [] } = diagnostic;
  const logical = logicalPlaces(diagnostic);
  const place = artifact(file, folder);
  return {
    ruleId: rule,
    ruleIndex,
    level: levels[severity],
    message: { text: message },
    locations: [
      {
        physicalLocation: { artifactLocation: place, region: regionOf(range) },
        ...(logical.length === 0 ? {} : { logicalLocations: logical }),
      },
    ],
    ...(related.length === 0
      ? {}
      : {
          relatedLocations: related.map((other, id) => ({
            id,
            physicalLocation: {
              artifactLocation: artifact(other.file, folder),
              region: regionOf(other.range),
            },
            message: { text: other.message },
          })),
        }),
    ...(fixes.length === 0 ? {} : { fixes: fixes.map((fix) => fixOf(fix, place)) }),
    partialFingerprints: { "gradusFinding/v1": fingerprint(rule, key, message) },
  };
}

/** Its key, and the cell of a notebook that it is in. */
const logicalPlaces = ({ key, cell }: Diagnostic): JsonObject[] => [
  ...(key === "" ? [] : [{ fullyQualifiedName: key, kind: "member" }]),
  ...(cell === undefined ? [] : [{ name: `cell ${cell}`, kind: "cell" }]),
];

/** The same diagnostic, wherever lines above it have moved it. */
const fingerprint = (...words: readonly string[]): string =>
  createHash("sha256").update(words.join("\0")).digest("hex").slice(0, 32);

const fixOf = ({ title, edits }: Fix, artifactLocation: JsonObject): JsonObject => ({
  description: { text: title },
  artifactChanges: [
    {
      artifactLocation,
      replacements: edits.map(({ range, newText }) => ({
        deletedRegion: regionOf(range),
        insertedContent: { text: newText },
      })),
    },
  ],
});

/** Relative to where the command ran: an upload is compared with the files of a repository. */
function artifact(file: string, folder: string): JsonObject {
  const path = relativePath(folder, file);
  if (path.startsWith("..") || isAbsolute(path)) return { uri: pathToFileURL(file).href };
  return { uri: path.split("/").map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" };
}

/** Counted from 1, as the format wants it; the end is the character after the last. */
const regionOf = ({ start, end }: Range): JsonObject => ({
  startLine: start.line + 1,
  startColumn: start.character + 1,
  endLine: end.line + 1,
  endColumn: end.character + 1,
});
