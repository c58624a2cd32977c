import type { StageBody } from "../../core/config/resolved.ts";
import { nameOf, type SettingsDraft } from "./exportDraft.ts";

/** DAPO's dynamic sampling, for a trainer that has no other admission. @returns whether it filters */
export function spreadFilter(
  { curriculum: { admission, refill } }: StageBody,
  draft: SettingsDraft,
): boolean {
  const name = nameOf(admission);
  if (name === "none") return false;
  if (name !== "nonzero_variance") {
    draft.miss(
      "curriculum.admission",
      name,
      `${draft.engine} filters groups by the spread of their rewards alone: none is rejected.`,
    );
    return false;
  }
  if (nameOf(refill) === "none")
    draft.miss("curriculum.refill", "none", `${draft.engine} generates until a step has all its groups.`);
  return true;
}
