/** What the rules of verl share: which launches they check, and how they make diagnostics. */
import type { Fix, Severity } from "../../../config/check/diagnostic.ts";
import { isVerlTrainer } from "../../readers/recognise.ts";
import type { RuleDiagnostic, RuleModel, FrameworkRule } from "../../rules/rule.ts";

export const actor = "actor_rollout_ref.actor";
export const rollout = "actor_rollout_ref.rollout";
export const ref = "actor_rollout_ref.ref";
export const policy = "actor_rollout_ref.model";

interface VerlRule {
  readonly id: `verl-${string}`;
  readonly title: string;
  /** Names the file and the function of verl that refuses it. */
  readonly why: string;
  /** For diagnostics that set none; `error` by default. */
  readonly severity?: Severity;
  /** The first release that it holds for. */
  readonly since?: string;
  /** The first release that it no longer holds for. */
  readonly before?: string;
  check(model: RuleModel): readonly RuleDiagnostic[];
}

/** A rule about verl's own trainer: programs that build on it (`recipe.…`, the asynchronous ones) differ. */
export const verlRule = ({ since = "0", before, severity = "error", ...rule }: VerlRule): FrameworkRule => ({
  framework: "verl",
  severity,
  id: rule.id,
  title: rule.title,
  why: rule.why,
  check: (model) =>
    isVerlTrainer(model.document.program) &&
    model.since(since) &&
    (before === undefined || !model.since(before))
      ? rule.check(model)
      : [],
});

interface DiagnosticExtras {
  readonly fixes?: readonly (Fix | undefined)[];
  readonly severity?: Severity | undefined;
}

/** A diagnostic at the first of these keys that the file sets; none if it sets none, because then it cannot be fixed here. */
export function found(
  model: RuleModel,
  keys: readonly string[],
  message: string,
  { fixes = [], severity }: DiagnosticExtras = {},
): RuleDiagnostic[] {
  const written = [...new Set(keys)].flatMap((key) => model.written(key) ?? []);
  const [at, ...related] = written.filter(({ sign }) => sign !== "~");
  if (at === undefined) return [];
  return [
    { message, at, related, fixes: preferringFirst(fixes), ...(severity === undefined ? {} : { severity }) },
  ];
}

/** A diagnostic about something missing. Only a command that starts verl is complete: a command may complete a file. */
export function lacking(
  model: RuleModel,
  message: string,
  { fixes = [], severity }: DiagnosticExtras = {},
): RuleDiagnostic[] {
  if (!isWholeLaunch(model)) return [];
  return [
    {
      message,
      at: undefined,
      fixes: preferringFirst(fixes),
      ...(severity === undefined ? {} : { severity }),
    },
  ];
}

const isWholeLaunch = ({ document: { form, program, incomplete } }: RuleModel): boolean =>
  form === "script" && program !== undefined && !incomplete;

export const preferringFirst = (fixes: readonly (Fix | undefined)[]): Fix[] => {
  const all = fixes.filter((fix) => fix !== undefined);
  // Of several fixes only the first is preferred, so that "fix all" applies one.
  return all.map((fix, i) => (i === 0 ? fix : { ...fix, preferred: false }));
};

/** A whole number above zero, for arithmetic. Any other value is reported by the check of its type. */
export function size(model: RuleModel, key: string): number | undefined {
  const value = model.number(key);
  return value !== undefined && Number.isInteger(value) && value > 0 ? value : undefined;
}

/** Whether the user's own modules are imported, which may register names. */
export const namesPlugIn = ({ document }: RuleModel): boolean =>
  /VERL_USE_EXTERNAL_MODULES|external_lib/.test(document.text);

export const isNull = (model: RuleModel, key: string): boolean => model.value(key) === null;

/** A key with its value: `rollout.n` 8. */
export const settingText = (key: string, value: unknown): string => `\`${shortName(key)}\` ${String(value)}`;

/** The key without the prefix that verl's long keys share. */
export const shortName = (key: string): string => key.replace(/^actor_rollout_ref\./, "");
