/** Addresses of documents of rollouts. The last part of a path is what a tab is called. */
import { Uri } from "vscode";
import { schemes } from "../../../shared/editor/contributions.ts";

/** A step's rollouts. */
export interface StepAddress {
  readonly run: string;
  readonly step: number;
  /** A condition that the rollouts satisfy; empty: all of the step. */
  readonly where: string;
}
/** One rollout. */
export interface RolloutAddress {
  readonly run: string;
  readonly step: number;
  readonly group: string;
  readonly index: number;
}

const title = (name: string): string => name.replaceAll("/", "-");

/** `gradus-rollouts:/<run>/<step>/<name> · step 12`; a condition is the query. */
export const stepUri = ({ run, step, where }: StepAddress, name: string): Uri =>
  Uri.from({
    scheme: schemes.rollouts,
    query: where,
    path: `/${run}/${step}/${title(name)} · step ${step}`,
  });

export function stepOf(uri: Uri): StepAddress {
  const [, run = "", step = ""] = uri.path.split("/");
  return { run, step: Number(step), where: uri.query };
}

/** `gradus-rollout:/<run>/<step>/<group>/<index>/<name> · step 12 · rollout 3`. */
export const rolloutUri = ({ run, step, group, index }: RolloutAddress, name: string): Uri =>
  Uri.from({
    scheme: schemes.rollout,
    path: `/${run}/${step}/${encodeURIComponent(group)}/${index}/${title(name)} · step ${step} · rollout ${index}`,
  });

export function rolloutOf(uri: Uri): RolloutAddress {
  const [, run = "", step = "", group = "", index = ""] = uri.path.split("/");
  return { run, step: Number(step), group: decodeURIComponent(group), index: Number(index) };
}

/** What a command about a rollout was given: its address, the document's, or nothing that is one. */
export function rolloutIn(word: unknown): RolloutAddress | undefined {
  if (word instanceof Uri) return word.scheme === schemes.rollout ? rolloutOf(word) : undefined;
  if (typeof word !== "object" || word === null) return undefined;
  const { run, step, group, index } = word as Partial<Record<keyof RolloutAddress, unknown>>;
  return typeof run === "string" &&
    typeof step === "number" &&
    typeof group === "string" &&
    typeof index === "number"
    ? { run, step, group, index }
    : undefined;
}

/** The condition that only the rollouts of a group satisfy. */
export const inGroup = (group: string): string => `group == ${JSON.stringify(group)}`;
