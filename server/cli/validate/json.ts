/** What `gradus validate --json` says of files: also what an agent is given. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import type { Checked } from "./check.ts";
import type { DumpedRollouts } from "./dumps.ts";

/** @param fix files may have been fixed: each says whether it was */
export const checkedJson = (
  checked: readonly Checked[],
  dumps: readonly DumpedRollouts[],
  fix: boolean,
): JsonObject => ({
  files: checked.map((file) => plainFile(file, fix)),
  ...(dumps.length === 0 ? {} : { rollouts: dumps.map((dump) => ({ ...dump })) }),
});

const plainFile = ({ file, kind, release, diagnostics, fixed }: Checked, fix: boolean): JsonObject => ({
  file,
  kind,
  ...(release === undefined ? {} : { release: { ...release } }),
  ...(fix ? { fixed } : {}),
  diagnostics: diagnostics.map((diagnostic) => jsonOf(diagnostic)),
});

const jsonOf = ({ severity, rule, message, key, range, fixes, related }: Diagnostic): JsonObject =>
  JSON.parse(JSON.stringify({ severity, rule, message, key, range, fixes, related }));

/** Not checked is not the same as found right: a sentence for each such file. */
export const uncheckedTexts = (checked: readonly Checked[]): readonly string[] =>
  checked.flatMap(({ file, kind, other }) =>
    kind === "unknown"
      ? [
          visibleText(
            other === undefined
              ? `${file}: not checked: it is neither a Gradus config nor a file that starts verl, TRL or OpenRLHF.`
              : `${file}: not checked: it is a configuration of ${other}, which Gradus does not read.`,
          ),
        ]
      : [],
  );
