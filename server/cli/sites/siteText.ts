/** What `gradus run --site SITE --dry-run` and a launch say of a project, a site, and what the run is going to take. */
import { plural } from "../../../shared/lib/format.ts";
import type { Exported, Missing } from "../../frameworks/lens/exporter.ts";
import type { PairFinding } from "../../sites/check/pairFindings.ts";
import { colours } from "../text/colours.ts";

const marks: Readonly<Record<PairFinding["severity"], string>> = {
  ok: colours.green("ok     "),
  warning: colours.yellow("warning"),
  error: colours.red("error  "),
};

/** One line a finding, the next action below it. */
export const findingLines = (findings: readonly PairFinding[]): string[] =>
  findings.flatMap(({ severity, message, action }) => [
    `  ${marks[severity]} ${message}`,
    ...(action === undefined ? [] : [`          ${action}`]),
  ]);

/** What the project is made of, and what it leaves out. */
export function projectLines(folder: string, release: string, { files, missing }: Exported): string[] {
  return [
    `${folder}  (${release})`,
    ...files.map((file) => `  ${file}`),
    ...(missing.length === 0 ? [] : ["", `${plural(missing.length, "choice")} without a counterpart:`]),
    ...missing.map(missingLine),
  ];
}

const missingLine = ({ key, value, reason, changes }: Missing): string =>
  `  ${changes === "algorithm" ? colours.yellow("changes") : "       "} ${key}: ${value}: ${reason}`;
