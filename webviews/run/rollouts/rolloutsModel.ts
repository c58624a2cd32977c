/** Which of a step's rollouts come first, and what is said of their groups: pure. */
import type { Brush, PanelGroup } from "../../../shared/editor/runPanel.ts";

/** "Rollouts of steps 3 to 8 · countdown/3, countdown/4". */
export function brushTitle({ from, to, names }: Brush): string {
  const steps = from === to ? `step ${from}` : `steps ${from} to ${to}`;
  const few = names.length <= 3 ? names : [...names.slice(0, 2), `${names.length - 2} more`];
  return `Rollouts of ${steps}${few.length === 0 ? "" : `  ·  ${few.join(", ")}`}`;
}

export const signOf = (value: number | null): "none" | "positive" | "negative" =>
  value === null || value === 0 ? "none" : value > 0 ? "positive" : "negative";

/** The first group that teaches something, else the first. */
export const firstGroup = (groups: readonly PanelGroup[]): number =>
  Math.max(
    0,
    groups.findIndex(({ signal }) => signal),
  );
/** After a group, the next that teaches something; from the end on again from the start. Null: no other does. */
export function nextWithSignal(groups: readonly PanelGroup[], at: number): number | null {
  for (let i = 1; i < groups.length; i++) {
    const next = (at + i) % groups.length;
    if (groups[next]!.signal) return next;
  }
  return null;
}

/** The most reinforced rollout of a group: what training makes more likely. */
export function firstRollout({ rollouts }: PanelGroup): number {
  let best = 0;
  rollouts.forEach(({ advantage }, i) => {
    if ((advantage ?? Number.NEGATIVE_INFINITY) > (rollouts[best]?.advantage ?? Number.NEGATIVE_INFINITY))
      best = i;
  });
  return best;
}

/** "step 12 · task 3 · countdown/4 · 5 of 8 right · in training". */
export const groupWords = ({ step, task, arm, right, rollouts, signal, verdict }: PanelGroup): string =>
  [
    ...(step === undefined ? [] : [`step ${step}`]),
    task,
    ...(arm === "" ? [] : [arm]),
    ...(right === null ? [] : [`${right} of ${rollouts.length} right`]),
    verdict,
    ...(signal ? [] : ["no signal"]),
  ].join("  ·  ");
