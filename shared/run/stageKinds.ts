/** Kinds of stage: what a step of one learns from. */

/** What a run's stages are once they are resolved; `alternate` holds turns of others and does nothing of its own. */
export const stageKinds = [
  "rl",
  "sft",
  "pretrain",
  "preference",
  "reward_model",
  "merge",
  "alternate",
] as const;
export type StageKind = (typeof stageKinds)[number];

/** Reinforcement on plain text: `rl` with defaults of its own. */
export const textKinds = ["rlp", "rlpt", "rmt"] as const;
export type TextKind = (typeof textKinds)[number];

/** What `kind` may be written as. */
export const writtenKinds = [
  "rl",
  "sft",
  "pretrain",
  "preference",
  "reward_model",
  ...textKinds,
  "merge",
] as const;
export type WrittenKind = (typeof writtenKinds)[number];

const isTextKind = (kind: string): kind is TextKind => textKinds.some((one) => one === kind);

export const isWrittenKind = (kind: string | undefined): kind is WrittenKind =>
  writtenKinds.some((one) => one === kind);

/** What a written kind is; an unknown one is reported elsewhere, and read as `rl`. */
export function stageKind(written: string | undefined): StageKind {
  if (written === undefined || !isWrittenKind(written) || isTextKind(written)) return "rl";
  return written;
}
