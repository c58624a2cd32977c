/** A cross-field rule: what one declaration alone cannot see. One file each. */
import { child, entry, type MapNode, type Origin, type SourceNode } from "../node.ts";
import type { Report } from "../report.ts";
import type { RunConfig, StageConfig } from "../resolved.ts";

/** A stage with its merged tree, so that a finding lands on whoever wrote the value. */
export interface StageView {
  readonly config: StageConfig;
  readonly body: MapNode;
  /** Its item in `stages`; undefined where nobody wrote stages. */
  readonly written: MapNode | undefined;
  /** `stages.easy`, or empty. */
  readonly path: string;
}

export interface ConfigModel {
  readonly config: RunConfig;
  readonly root: MapNode;
  readonly stages: readonly StageView[];
  readonly file: string;
  /** `--steps` cut the run short: what then lies past its end was not meant to. */
  readonly capped: boolean;
  readonly report: Report;
}

export interface Rule {
  /** Kebab-case, stable: it is shown with each message. */
  readonly id: string;
  check(model: ConfigModel): void;
}

export const at = (node: SourceNode | undefined, ...path: readonly string[]): SourceNode | undefined =>
  path.reduce<SourceNode | undefined>((below, key) => child(below, key), node);

/** Where a value, or failing that its key, was written. */
export const placeOf = (node: SourceNode | undefined, ...path: readonly string[]): Origin | undefined =>
  at(node, ...path)?.origin;

export const keyOf = (node: SourceNode | undefined, ...path: readonly string[]): Origin | undefined =>
  entry(at(node, ...path.slice(0, -1)), path.at(-1) ?? "")?.key;

const rank = (origin: Origin, file: string): number => {
  if (origin.layer === "file" && origin.file === file) return 0;
  if (origin.layer === "set") return 1;
  return origin.layer === "file" ? 2 : origin.layer === "preset" ? 3 : 4;
};

/** The first of several places that the person wrote in this very file; else the best of the rest. */
export function mine(file: string, ...places: readonly (Origin | undefined)[]): Origin | undefined {
  return places
    .filter((place) => place !== undefined)
    .map((place, index) => ({ place, index }))
    .sort((a, b) => rank(a.place, file) - rank(b.place, file) || a.index - b.index)[0]?.place;
}

export const underneath = (view: StageView, place: Origin, key: string): string =>
  place.stage === undefined ? key : `${view.path}.${key}`;
