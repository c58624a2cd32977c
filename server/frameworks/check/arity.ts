/** How many values a flag takes: argparse refuses one too few, and leaves one too many over, which its programs refuse. */
import { startsOwnProgram } from "../trainers/trl/batch.ts";
import type { Setting } from "../text/document.ts";
import type { DocumentModel } from "../rules/model.ts";
import type { KeyFact } from "../releases/tables/table.ts";
import { wrongCount, type KeyDiagnostic } from "./keyRules.ts";
import type { Fix } from "../../config/check/diagnostic.ts";
import { replace } from "../../config/check/report.ts";

interface Arity {
  readonly least: number;
  readonly most: number;
}
/** Asserted after parsing: `HIGH`, or `LOW HIGH`. */
const pairs = new Set(["algo.advantage.is_correction_threshold"]);
const exactly = (count: number): Arity => ({ least: count, most: count });

export function countMismatch(
  model: DocumentModel,
  setting: Setting,
  fact: KeyFact,
): KeyDiagnostic | undefined {
  const { words } = setting;
  const arity = words === undefined ? undefined : arityOf(model, setting.key, fact);
  if (words === undefined || arity === undefined || (words >= arity.least && words <= arity.most))
    return undefined;
  const flag = `\`--${setting.key}\``;
  if (arity.most === 0) {
    return {
      rule: wrongCount,
      at: setting,
      message: `${flag} is a switch and takes no value, so argparse refuses \`${setting.text}\`. Write the flag alone to switch it on; remove it to switch it off.`,
      fixes: removal(model, setting),
    };
  }
  const given = words === 0 ? "none" : String(words);
  return {
    rule: wrongCount,
    at: setting,
    onKey: words === 0,
    message: `${flag} takes ${spelledOut(arity)} but gets ${given}, so argparse refuses it.`,
  };
}

/** undefined where it cannot be known, or the user's own program reads the flags. */
function arityOf(
  model: DocumentModel,
  key: string,
  { type, nargs, choices, default: fallback }: KeyFact,
): Arity | undefined {
  const { framework } = model.document;
  const plain = type.replace("?", "");
  if (framework === "openrlhf") {
    if (typeof nargs === "number") return exactly(nargs);
    if (pairs.has(key)) return { least: 1, most: 2 };
    if (nargs === "?") return { least: 0, most: 1 };
    if (nargs !== undefined) return { least: nargs === "+" ? 1 : 0, most: Number.POSITIVE_INFINITY };
    // The tables do not say more about a list.
    return plain === "bool" ? exactly(0) : plain === "list" ? undefined : exactly(1);
  }
  if (framework !== "trl" || !startsOwnProgram(model)) return undefined;
  switch (plain) {
    case "bool":
      return { least: type === "bool?" && (fallback ?? null) === null ? 1 : 0, most: 1 };
    case "list":
      return { least: 1, most: Number.POSITIVE_INFINITY };
    case "any":
      return choices === undefined ? undefined : exactly(1);
    default:
      return exactly(1);
  }
}

const spelledOut = ({ least, most }: Arity): string => {
  if (least === most) return least === 1 ? "one value" : `${least} values`;
  if (most === Number.POSITIVE_INFINITY) return "one value or more";
  return least === 0 ? "at most one value" : `${least} to ${most} values`;
};

function removal(model: DocumentModel, setting: Setting): Fix[] {
  const { start, end } = setting.range;
  const from = setting.keyRange.end;
  // `--flag=value` has no blank before the value.
  if (start.line !== end.line || from.line !== start.line || model.document.form !== "script") return [];
  const title = `Remove \`${setting.text}\``;
  return [replace({ start: from, end }, "", title)];
}
