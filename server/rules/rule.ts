/** A cross-field rule: what one declaration alone cannot see. One file each. */
import type { StageView, ConfigModel } from "../config/check/model.ts";
import { child, entry, type Origin, type SourceNode } from "../config/text/node.ts";
import type { Path } from "../config/text/edits.ts";
import type { DiagnosticReport } from "../config/check/report.ts";

/** What a rule's page says about its diagnostics. */
export interface RulePage {
  /** Kebab-case, stable: it is shown with each message, and names the page. */
  readonly id: string;
  /** A heading: what is wrong, in a few words. */
  readonly title: string;
  /** Markdown: what is seen, why it matters with its source where one is known, and what to do. */
  readonly why: string;
}

export interface Rule extends RulePage {
  check(model: ConfigModel): void;
}

/** A rule's check, stage by stage. */
export const eachStage =
  (inspect: (view: StageView, model: ConfigModel) => void): Rule["check"] =>
  (model) => {
    for (const view of model.stages) inspect(view, model);
  };

/** The same of the stages that train by rewards. */
export const eachRlStage = (inspect: (view: StageView, model: ConfigModel) => void): Rule["check"] =>
  eachStage((view, model) => {
    if (view.config.kind === "rl") inspect(view, model);
  });

/** Whether a value is met for the first time: stages share values that none of them wrote, and one diagnostic is enough. */
export function firstTime(): (thing: object) => boolean {
  const met = new Set<object>();
  return (thing) => {
    const first = !met.has(thing);
    met.add(thing);
    return first;
  };
}

/** What lies at a path; items of a list by their index. */
export const at = (node: SourceNode | undefined, ...path: readonly string[]): SourceNode | undefined =>
  path.reduce<SourceNode | undefined>(
    (below, key) => (below?.kind === "list" ? below.items[Number(key)] : child(below, key)),
    node,
  );

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

/** The path of a stage's value for a fix: in the stage where `place` is the stage's own, else at the top. */
export const pathIn = (view: StageView, place: Origin | undefined, ...keys: Path): Path =>
  place?.stage === undefined ? keys : ["stages", view.config.name, ...keys];

/** Whether a person wrote it for this run, rather than a preset, and it is not a default. */
export const isOwn = (origin: Origin | undefined): origin is Origin =>
  origin?.layer === "file" || origin?.layer === "set";

type StageReport = Omit<DiagnosticReport, "rule" | "key" | "at"> & {
  /** What it is about, below the stage; the path where it is, if absent. */
  readonly key?: string;
};

/**
 * Reports a diagnostic about a stage's values, at the first of the paths that the person wrote.
 * @param diagnostic may depend on that place
 */
export function reportAt(
  { file, root, report }: ConfigModel,
  view: StageView,
  { id }: RulePage,
  paths: readonly (readonly string[])[],
  diagnostic: StageReport | ((at: Origin) => StageReport),
): void {
  const places = paths.map((path) => ({ path, origin: placeOf(view.body, ...path) }));
  const at = mine(file, ...places.map(({ origin }) => origin)) ?? root.origin;
  const path = places.find(({ origin }) => origin === at)?.path ?? paths[0] ?? [];
  const { key = path.join("."), ...rest } = typeof diagnostic === "function" ? diagnostic(at) : diagnostic;
  report({ rule: id, key: underneath(view, at, key), at, ...rest });
}
