/** Hydra's config groups: an override of one chooses a file, by the name that the group has in verl's `defaults`. */
import { nearest } from "../../lib/suggest.ts";
import type { Setting } from "../text/document.ts";
import type { DocumentModel } from "../rules/model.ts";
import { verlTreeOf } from "../releases/programs/verl.ts";
import { unknownKey, wrongType, type KeyDiagnostic } from "./keyRules.ts";
import { replace } from "../../config/check/report.ts";

/** `actor@actor_rollout_ref.actor`, `model/vision`. */
export const isGroupName = (key: string): boolean => /[@/]/.test(key);

/** Whether nothing but verl's own folder of configs is searched. */
export const isOwnFolder = ({ document: { program, form, base, text, settings } }: DocumentModel): boolean =>
  form === "script" &&
  program !== undefined &&
  verlTreeOf(program) !== undefined &&
  base.size === 0 &&
  !/--config-(path|dir|name)\b|(^|\s)-c[dpn]\b/.test(text) &&
  !settings.some(({ key }) => key.startsWith("hydra.searchpath"));

export function groupDiagnostics(model: DocumentModel, setting: Setting): KeyDiagnostic[] {
  const { key, sign } = setting;
  const groups = model.facts.keys.filter((other) => model.fact(other)?.group === true);
  // A package that is the group's own name may be left out: Hydra calls both one.
  const [group = "", place] = key.split("@");
  if (sign !== "" || groups.length === 0 || !isOwnFolder(model)) return [];
  if (model.facts.has(key) || (place === group && model.facts.has(group))) return [];
  const meant =
    groups.find((other) => other.startsWith(`${group}@`) && other.endsWith(`.${place ?? ""}`)) ??
    groups.find((other) => other.split("@")[1]?.replaceAll(".", "/") === key) ??
    nearest(key, groups) ??
    groups.find((other) => other.split("@")[0] === group);
  const hint = meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
  const fixes =
    meant === undefined || setting.shared === true
      ? []
      : [replace(setting.keyRange, meant, `Change to \`${meant}\``)];
  const message = `Hydra finds no group \`${key}\` in the \`defaults\` of verl ${model.facts.version}, and refuses to override it.${hint}`;
  return [{ rule: unknownKey, severity: "error", at: setting, message, fixes }];
}

/** A section set to a single value: verl no longer finds the keys below it. */
export function sectionDiagnostics(model: DocumentModel, setting: Setting): KeyDiagnostic[] {
  const { key, value, sign } = setting;
  if (sign === "~" || !/^[+]*$/.test(sign) || !model.facts.sections.has(key)) return [];
  if (value === undefined || value === null || typeof value === "object") return [];
  // `critic=dp_critic` chooses the file of a group; its choices are checked as values are.
  if (model.fact(key) !== undefined) return [];
  const below = model.facts.keys.find((other) => other.startsWith(`${key}.`) && !other.includes("_target_"));
  const message = `\`${key}\` is a section, and \`${setting.text}\` replaces all its keys, so verl does not find \`${below ?? key}\`. Set the keys below it.`;
  return [{ rule: wrongType, at: setting, message }];
}
