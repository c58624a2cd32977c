import type { Group } from "../seams.ts";

/** A signal that looks at one group at a time. */
export const perGroup =
  (measure: (group: Group) => number) =>
  (groups: readonly Group[]): Float64Array =>
    Float64Array.from(groups, measure);
