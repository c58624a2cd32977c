/** Reports that a release is checked against the table of another. */
import type { FrameworkDocument, FrameworkRelease } from "../document.ts";
import { DocumentModel } from "../model.ts";
import { frameworkNames } from "../names.ts";
import { tableOf } from "../tables/load.ts";
import { compareVersions } from "../version.ts";
import { addedKey, neighbourTable, unknownKey, wrongValue, type KeyDiagnostic } from "./keyRules.ts";

const reasons: Readonly<Record<FrameworkRelease["from"], string>> = {
  file: "the file or its requirements name",
  checkout: "this checkout holds",
  installed: "is installed",
  newest: "is the newest",
};

/** The release that a file was checked against, as `validate --json` prints it. */
export interface CheckedRelease {
  readonly framework: string;
  /** The file's release. */
  readonly version: string;
  readonly from: FrameworkRelease["from"];
  /** The release whose table was used, if that is another. */
  readonly table?: string;
}

export function checkedAgainst(document: FrameworkDocument): CheckedRelease {
  const { version, framework } = document;
  const other = standIn(new DocumentModel(document));
  return {
    framework: frameworkNames[framework],
    version: version.text,
    from: version.from,
    ...(other === undefined ? {} : { table: other }),
  };
}

const said: Readonly<Record<FrameworkRelease["from"], string>> = {
  file: "",
  checkout: ", this checkout",
  installed: ", installed",
  newest: ", the newest known",
};

export const releaseText = ({ framework, version, from, table }: CheckedRelease): string =>
  `${framework} ${version}${said[from]}${table === undefined ? "" : `, by the keys of ${table}`}`;

/** A release newer than the tables, without its sources nearby: it may have more. */
const isBeyondTables = (model: DocumentModel): boolean => standIn(model) !== undefined && isNewer(model);

/** Whether the file's release is newer than the newest table: the code may allow more names. */
function isNewer({ document: { version, framework } }: DocumentModel): boolean {
  const newest = tableOf(framework).versions.at(-1);
  return newest !== undefined && compareVersions(version.text, newest) > 0;
}

/** Makes errors that a release newer than the tables may not have into warnings that name the release. */
export function allowLater(model: DocumentModel, found: readonly KeyDiagnostic[]): KeyDiagnostic[] {
  if (!isNewer(model)) return [...found];
  const { framework, version } = model.document;
  const newest = tableOf(framework).versions.at(-1) ?? "";
  const later = ` The newest release known here is ${frameworkNames[framework]} ${newest}: ${version.text} may have it.`;
  const unknown = isBeyondTables(model) ? [unknownKey, addedKey, wrongValue] : [];
  return found.map((one) => {
    const compared = one.rule === wrongValue && model.fact(one.at?.key ?? "")?.compared === true;
    if (!compared && !unknown.includes(one.rule)) return one;
    return one.severity === "info" ? one : { ...one, severity: "warning", message: `${one.message}${later}` };
  });
}

/** The release whose facts replace the document's own; undefined if these are known. */
export const standIn = ({ facts, document: { version } }: DocumentModel): string | undefined =>
  facts.version === version.text ? undefined : facts.version;

export function releaseDiagnostic(model: DocumentModel): KeyDiagnostic | undefined {
  const other = standIn(model);
  if (other === undefined) return undefined;
  const { framework, version } = model.document;
  const name = frameworkNames[framework];
  const asked = reasons[version.from];
  return {
    rule: neighbourTable,
    message: `Checked as ${name} ${other}, because Gradus has no table of ${version.text}, which ${asked}. A key that was added or removed between the two may get a wrong diagnostic.`,
    at: undefined,
  };
}
