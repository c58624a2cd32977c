/** Whether a release is judged by what is known of another. */
import type { ForeignVersion } from "../document.ts";
import type { Model } from "../model.ts";
import { frameworkNames } from "../names.ts";
import { neighbourTable, type KeyFinding } from "./finding.ts";

const reasons: Readonly<Record<ForeignVersion["from"], string>> = {
  file: "the file or its requirements name",
  checkout: "this checkout holds",
  installed: "is installed",
  newest: "is the newest",
};

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
    message: `Checked as ${name} ${other}: of ${version.text}, which ${asked}, no table is kept. A key that came or went between the two may be judged wrongly.`,
    at: undefined,
  };
}
