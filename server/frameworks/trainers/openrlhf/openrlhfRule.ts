/** A rule about OpenRLHF: it reads flags by their dotted names. */
import type { RuleDiagnostic, FrameworkRule } from "../../rules/rule.ts";
import { Flags } from "./flags.ts";

type OpenrlhfRule = Omit<FrameworkRule, "framework" | "check" | "severity"> &
  Partial<Pick<FrameworkRule, "severity">> & {
    readonly check: (flags: Flags) => readonly RuleDiagnostic[];
  };

export const openrlhfRule = ({ check, ...rest }: OpenrlhfRule): FrameworkRule => ({
  severity: "error",
  ...rest,
  framework: "openrlhf",
  check: (model) => check(new Flags(model)),
});
