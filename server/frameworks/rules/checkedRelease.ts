/** The release that a file is checked against, in words. */
import { trainers } from "../../../shared/run/trainers.ts";
import type { FrameworkDocument, FrameworkRelease } from "../text/document.ts";
import { DocumentModel } from "./model.ts";

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
    framework: trainers[framework].name,
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

/** The release whose facts replace the document's own; undefined if these are known. */
export const standIn = ({ facts, document: { version } }: DocumentModel): string | undefined =>
  facts.version === version.text ? undefined : facts.version;
