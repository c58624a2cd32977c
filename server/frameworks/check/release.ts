/** Reports that a release is checked against the table of another. */
import { trainers } from "../../../shared/run/trainers.ts";
import type { FrameworkRelease } from "../text/document.ts";
import { standIn } from "../rules/checkedRelease.ts";
import type { DocumentModel } from "../rules/model.ts";
import { tableOf } from "../releases/load.ts";
import { compareVersions } from "../text/releaseOrder.ts";
import { addedKey, neighbourTable, unknownKey, wrongValue, type KeyDiagnostic } from "./keyRules.ts";

const reasons: Readonly<Record<FrameworkRelease["from"], string>> = {
  file: "the file or its requirements name",
  checkout: "this checkout holds",
  installed: "is installed",
  newest: "is the newest",
};

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
  const later = ` The newest release known here is ${trainers[framework].name} ${newest}: ${version.text} may have it.`;
  const unknown = isBeyondTables(model) ? [unknownKey, addedKey, wrongValue] : [];
  return found.map((one) => {
    const compared = one.rule === wrongValue && model.fact(one.at?.key ?? "")?.compared === true;
    if (!compared && !unknown.includes(one.rule)) return one;
    return one.severity === "info" ? one : { ...one, severity: "warning", message: `${one.message}${later}` };
  });
}

export function releaseDiagnostic(model: DocumentModel): KeyDiagnostic | undefined {
  const other = standIn(model);
  if (other === undefined) return undefined;
  const { framework, version } = model.document;
  const name = trainers[framework].name;
  const asked = reasons[version.from];
  return {
    rule: neighbourTable,
    message: `Checked as ${name} ${other}, because Gradus has no table of ${version.text}, which ${asked}. A key that was added or removed between the two may get a wrong diagnostic.`,
    at: undefined,
  };
}
