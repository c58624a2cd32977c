/** Keys of `rollout` that a trainer has nothing for. */
import type { StageBody } from "../../core/config/resolved.ts";
import type { SettingsDraft } from "./exportDraft.ts";

type Rollout = StageBody["rollout"];

interface Without {
  /** Values with which it does nothing, besides none and an empty list or map. */
  readonly off?: readonly (string | number)[];
  /** What happens in its place: a sentence. */
  readonly reason: string;
}
export type WithoutKeys = Readonly<Partial<Record<keyof Rollout, Without>>>;

export function missKeys(rollout: Rollout, without: WithoutKeys, draft: SettingsDraft): void {
  for (const [key, { off = [], reason }] of Object.entries(without)) {
    const value: unknown = rollout[key as keyof Rollout];
    if (!isOff(value, off)) draft.miss(`rollout.${key}`, value, reason);
  }
}

const isOff = (value: unknown, off: readonly unknown[]): boolean =>
  value === undefined ||
  off.includes(value) ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);
