/** A rule of OpenRLHF's: it reads flags by their dotted names. */
import type { ForeignFinding, ForeignRule } from "../rule.ts";
import { Flags } from "./flags.ts";

type Written = Omit<ForeignRule, "framework" | "check"> & {
  readonly check: (flags: Flags) => readonly ForeignFinding[];
};

export const openrlhfRule = ({ check, ...rest }: Written): ForeignRule => ({
  ...rest,
  framework: "openrlhf",
  check: (model) => check(new Flags(model)),
});
