/** What `gradus validate --json` says of files: also what an agent is given. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { noConfig } from "../text/diagnostics.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { plural } from "../../../shared/lib/format.ts";
import { instead, whatIsDone } from "../../frameworks/readers/otherTrainer.ts";
import { uncheckedByTrainer, type Checked } from "./check.ts";
import type { DumpedRollouts } from "./dumps.ts";

/** @param fix files may have been fixed: each says whether it was */
export const checkedJson = (
  checked: readonly Checked[],
  dumps: readonly DumpedRollouts[],
  fix: boolean,
): JsonObject => ({
  files: checked.map((file) => plainFile(file, fix)),
  ...(dumps.length === 0 ? {} : { rollouts: dumps.map(plainDump) }),
});

const plainDump = ({ folder, framework, steps, config, command }: DumpedRollouts): JsonObject => ({
  folder,
  framework,
  steps,
  config,
  command,
});

const plainFile = (
  { file, kind, release, other, why, diagnostics, fixed }: Checked,
  fix: boolean,
): JsonObject => ({
  file,
  kind,
  ...(other === undefined ? {} : { other: other.name }),
  ...(why === undefined ? {} : { reason: why }),
  ...(release === undefined ? {} : { release: { ...release } }),
  ...(fix ? { fixed } : {}),
  diagnostics: diagnostics.map((diagnostic) => jsonOf(diagnostic)),
});

const jsonOf = ({ severity, rule, message, key, cell, range, fixes, related }: Diagnostic): JsonObject =>
  JSON.parse(JSON.stringify({ severity, rule, message, key, cell, range, fixes, related }));

/** Not checked is not the same as found right: a sentence for each trainer, and for each file of none. */
export function uncheckedTexts(checked: readonly Checked[]): readonly string[] {
  const groups = uncheckedByTrainer(checked);
  const nobodys = groups.flatMap(({ trainer, files }) => (trainer === undefined ? files : []));
  const theirs = groups.flatMap(({ trainer, files }) => (trainer === undefined ? [] : [files]));
  return [
    ...nobodys.map(({ file, why = `it is ${noConfig}` }) => `${file}: not checked: ${why}.`),
    ...theirs.map(trainerText),
  ].map((text) => visibleText(text));
}

function trainerText(files: readonly Checked[]): string {
  const [{ file, other } = { file: "", other: undefined }] = files;
  if (other === undefined) return "";
  const what = `${other.form} of ${other.name}, ${whatIsDone(other)}.`;
  const then = instead(other, file);
  const next = then === undefined ? "" : ` ${then}`;
  if (files.length === 1) return `${file}: not checked: it is a ${what}${next}`;
  const named = files.slice(0, 3).map(({ file }) => file);
  const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
  return `${plural(files.length, "file")} of ${other.name} were not checked: ${named.join(", ")}${more}. Each is a ${what}${next}`;
}
