/** Whether a number is in the range that the framework accepts. */
import type { Json } from "../../../shared/lib/json.ts";
import type { Setting } from "../text/document.ts";
import { ranges, type NumberRange } from "../releases/facts/ranges.ts";
import type { DocumentModel } from "../rules/model.ts";
import { isVerlTrainer } from "../readers/recognise.ts";
import { wrongValue, type KeyDiagnostic } from "./keyRules.ts";
import { unreadBecause } from "./unreadKey.ts";

export function outOfRange(model: DocumentModel, setting: Setting, value: Json): KeyDiagnostic | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
  const { framework, program } = model.document;
  // verl's asynchronous programs give some numbers another meaning: a batch of 0 streams.
  if (framework === "verl" && !isVerlTrainer(program)) return undefined;
  const range = ranges[framework].find(
    (one) =>
      one.keys.test(setting.key) &&
      !holds(one, number) &&
      (one.where === undefined || model.flag(one.where) === true),
  );
  if (range === undefined) return undefined;
  const unread = unreadBecause(model, setting.key);
  const message = `\`${setting.key}\` is ${number} but must be ${boundsText(range)}: ${range.because}.`;
  const found = { rule: wrongValue, at: setting };
  if (unread === undefined) return { ...found, message };
  return { ...found, severity: "warning", message: `${message} Nothing reads it here: ${unread}.` };
}

const holds = ({ least, most, above, below }: NumberRange, value: number): boolean =>
  (least === undefined || value >= least) &&
  (most === undefined || value <= most) &&
  (above === undefined || value > above) &&
  (below === undefined || value < below);

function boundsText({ least, most, above, below }: NumberRange): string {
  const low =
    least === undefined ? (above === undefined ? undefined : `above ${above}`) : `at least ${least}`;
  const high = most === undefined ? (below === undefined ? undefined : `below ${below}`) : `at most ${most}`;
  return [low, high].filter((part) => part !== undefined).join(" and ");
}
