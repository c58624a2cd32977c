import type { ICruiseOptions, IFlattenedRuleSet } from "dependency-cruiser";

export const floors: readonly string[];
export const trainerFloors: readonly string[];
export const importers: Readonly<Record<string, readonly string[]>>;
declare const walls: {
  readonly forbidden: NonNullable<IFlattenedRuleSet["forbidden"]>;
  readonly options: ICruiseOptions;
};
export default walls;
