/** Whether a release is judged by what is known of another. */
import type { ForeignDocument, ForeignVersion } from "../document.ts";
import { Model } from "../model.ts";
import { frameworkNames } from "../names.ts";
import { tableOf } from "../tables/load.ts";
import { compareVersions } from "../version.ts";
import { addedKey, neighbourTable, unknownKey, wrongValue, type KeyFinding } from "./finding.ts";

const reasons: Readonly<Record<ForeignVersion["from"], string>> = {
  file: "the file or its requirements name",
  checkout: "this checkout holds",
  installed: "is installed",
  newest: "is the newest",
};

/** Which release a file was judged by, as `validate --json` says it. */
export interface JudgedBy {
  readonly framework: string;
  /** The file's release. */
  readonly version: string;
  readonly from: ForeignVersion["from"];
  /** The release whose keys were looked up, where that is another. */
  readonly table?: string;
}

export function judgedBy(document: ForeignDocument): JudgedBy {
  const { version, framework } = document;
  const other = standIn(new Model(document));
  return {
    framework: frameworkNames[framework],
    version: version.text,
    from: version.from,
    ...(other === undefined ? {} : { table: other }),
  };
}

const said: Readonly<Record<ForeignVersion["from"], string>> = {
  file: "",
  checkout: ", this checkout",
  installed: ", installed",
  newest: ", the newest known",
};

export const releaseText = ({ framework, version, from, table }: JudgedBy): string =>
  `${framework} ${version}${said[from]}${table === undefined ? "" : `, by the keys of ${table}`}`;

/** A release that came after the tables, and whose sources lie nowhere near: it may know more. */
export const isBeyondTables = (model: Model): boolean => standIn(model) !== undefined && isNewer(model);

/** Whether the file's release came after the newest table: names that only code compares may be more by now. */
export function isNewer({ document: { version, framework } }: Model): boolean {
  const newest = tableOf(framework).versions.at(-1);
  return newest !== undefined && compareVersions(version.text, newest) > 0;
}

/** What no table can know of a later release is a warning that names the release. */
export function allowLater(model: Model, found: readonly KeyFinding[]): KeyFinding[] {
  if (!isNewer(model)) return [...found];
  const { framework, version } = model.document;
  const newest = tableOf(framework).versions.at(-1) ?? "";
  const later = ` The newest release known here is ${frameworkNames[framework]} ${newest}: ${version.text} may have it.`;
  const unknown = isBeyondTables(model) ? [unknownKey, addedKey, wrongValue] : [];
  return found.map((finding) => {
    const compared = finding.rule === wrongValue && model.fact(finding.at?.key ?? "")?.compared === true;
    if (!compared && !unknown.includes(finding.rule)) return finding;
    return finding.severity === "info"
      ? finding
      : { ...finding, severity: "warning", message: `${finding.message}${later}` };
  });
}

/** The release whose facts stand in for the document's own; undefined where these are known. */
export const standIn = ({ facts, document: { version } }: Model): string | undefined =>
  facts.version === version.text ? undefined : facts.version;

export function releaseFinding(model: Model): KeyFinding | undefined {
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
