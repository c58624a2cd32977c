/** Settings that a script means for its command but does not pass. */
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import type { CutLaunch, FrameworkDocument } from "../text/document.ts";
import { shellQuoted } from "../../../shared/lib/shellQuoted.ts";
import { basename } from "node:path";
import { diagnosed } from "../rules/report.ts";
import { cutOff } from "./keyRules.ts";

const causes: Readonly<Record<CutLaunch["cause"], { readonly why: string; readonly fix?: string }>> = {
  missing: { why: "this line does not end with a backslash", fix: "Add a backslash" },
  blank: { why: "a character follows the backslash", fix: "Remove what follows the backslash" },
  comment: {
    why: "a comment or an empty line follows a continued line",
    fix: "Remove the lines between",
  },
  return: { why: "this script has Windows line ends, and a carriage return follows the backslash" },
};

export function cutSettings(document: FrameworkDocument): Diagnostic[] {
  const { cut, file } = document;
  if (cut === undefined) return [];
  const { why, fix: title } = causes[cut.cause];
  const what =
    cut.lost === 1 ? `\`${cut.first}\` below is` : `The ${cut.lost} settings from \`${cut.first}\` on are`;
  const fixes =
    title === undefined || cut.edit === undefined
      ? []
      : [{ title, edits: [cut.edit], preferred: cut.cause !== "comment" }];
  const action =
    cut.cause === "return"
      ? ` Save it with LF line ends: \`perl -pi -e 's/\\r$//' ${shellQuoted(basename(file))}\`.`
      : "";
  const diagnostic = {
    at: undefined,
    message: `The command ends here: ${why}. ${what} not passed.${action}`,
    fixes,
    // Git may have made them of LF for this machine alone.
    ...(cut.cause === "return" && { severity: "warning" as const }),
  };
  return [
    {
      ...diagnosed(diagnostic, cutOff, document),
      range: cut.range,
      related: [{ file, range: cut.place, message: "This is not part of the command" }],
    },
  ];
}
