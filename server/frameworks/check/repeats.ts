/** Settings that occur twice, and variables that are never set. */
import type { Setting } from "../text/document.ts";
import { lineText } from "../text/notebook/lineText.ts";
import type { DocumentModel } from "../rules/model.ts";
import type { UnsetVariable } from "../text/document.ts";
import { duplicateKey, unsetVariable, type KeyDiagnostic } from "./keyRules.ts";

export function repeats({ document }: DocumentModel): KeyDiagnostic[] {
  const { settings, framework, form } = document;
  // OmegaConf's reader and Python's refuse what argparse, Hydra's overrides and PyYAML take.
  const refused = (framework === "verl" && form === "yaml") || form === "python";
  const last = new Map<string, Setting>();
  for (const setting of settings) if (setting.inherited !== true) last.set(setting.key, setting);
  return settings.flatMap((setting) => {
    const winner = last.get(setting.key);
    if (
      winner === undefined ||
      winner === setting ||
      setting.inherited === true ||
      overrides(setting, winner)
    )
      return [];
    const line = lineText(document, winner.keyRange.start.line);
    const same =
      JSON.stringify(setting.value) === JSON.stringify(winner.value) && setting.value !== undefined;
    const message = refused
      ? `\`${setting.key}\` is set again on ${line}: duplicates are refused.`
      : same
        ? `\`${setting.key}\` is set to the same value again on ${line}.`
        : `\`${setting.key}\` is set again on ${line}, to \`${winner.text}\`: this value is never used.`;
    return [
      {
        rule: duplicateKey,
        severity: refused ? "error" : same ? "info" : "warning",
        at: setting,
        message,
        related: [winner],
      },
    ];
  });
}

/** A map that adds to a map, and a sign that deletes the setting first, are intended. */
const overrides = (setting: Setting, winner: Setting): boolean =>
  setting.sign === "~" || winner.sign === "~" || setting.shared === true;

interface PlacedDiagnostic {
  readonly diagnostic: KeyDiagnostic;
  readonly variable: UnsetVariable;
}

export const unsetVariables = ({ document }: DocumentModel): PlacedDiagnostic[] =>
  document.unset.map((variable) => {
    const { name, meant } = variable;
    const hint = meant === undefined ? "" : ` Did you mean \`$${meant}\`?`;
    const severity = meant === undefined ? "info" : "warning";
    const message = `Nothing in this script sets \`$${name}\`: unless the environment does, it is empty.${hint}`;
    const edits = meant === undefined ? [] : [{ range: variable.range, newText: `\${${meant}}` }];
    const fixes = meant === undefined ? [] : [{ title: `Change to \`$${meant}\``, edits, preferred: true }];
    return { variable, diagnostic: { rule: unsetVariable, severity, at: undefined, message, fixes } };
  });
