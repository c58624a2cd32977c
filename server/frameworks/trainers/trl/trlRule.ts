/** A rule about TRL. */
import type { FrameworkRule } from "../../rules/rule.ts";

type TrlRule = Omit<FrameworkRule, "framework" | "severity"> & Partial<Pick<FrameworkRule, "severity">>;

export const trlRule = (rule: TrlRule): FrameworkRule => ({ severity: "error", ...rule, framework: "trl" });
