/** The groups of a step as the run panel lists them. Pure. */
import type { GroupRow } from "../../../shared/protocol/protocol.ts";
import { fromWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { branchText } from "../../../shared/rollouts/branchText.ts";
import { helpText } from "../../../shared/rollouts/helpText.ts";
import { isMarked, responseParts } from "../../../shared/rollouts/responseParts.ts";
import { groupVerdict } from "../rollouts/verdict.ts";
import type { PanelGroup, ToPanel } from "../../../shared/editor/runPanel.ts";

const numberOrNull = (value: MaybeNumber | undefined): number | null => {
  const number = fromWire(value ?? null);
  return Number.isFinite(number) ? number : null;
};

/** In the order of the first rollout of each group; rollouts by their place in it. */
export function panelGroups(groups: readonly GroupRow[], rollouts: readonly RolloutRow[]): PanelGroup[] {
  const known = new Map(groups.map((group) => [group.group, group]));
  const rows = new Map<string, RolloutRow[]>();
  for (const row of rollouts) {
    const list = rows.get(row.group) ?? [];
    list.push(row);
    rows.set(row.group, list);
  }
  return [...rows].map(([group, members]) => {
    const { task, arm, admitted, reason, size } = known.get(group) ?? {};
    const first = members[0]?.task;
    const trains = admitted ?? members[0]?.admitted ?? true;
    return {
      group,
      task: task ?? first?.id ?? group,
      arm: arm ?? first?.arm ?? "",
      verdict: groupVerdict({ admitted: trains, reason: reason ?? null, size }, members),
      rollouts: members
        .sort((one, other) => one.index - other.index)
        .map(({ index, reward, advantage, errors = {} }) => ({
          index,
          reward: numberOrNull(reward),
          advantage: numberOrNull(advantage),
          sound: Object.keys(errors).length === 0,
        })),
    };
  });
}

/** What of a rollout is shown next to its explanation. */
export function panelTexts(
  row: RolloutRow | undefined,
): Pick<Extract<ToPanel, { type: "why" }>, "prompt" | "response" | "parts" | "help" | "shown"> {
  const { prompt = "", response = "", help, parent, shown } = row ?? {};
  const parts = responseParts(row ?? {});
  return {
    prompt,
    response,
    ...(isMarked(parts) && { parts }),
    ...(parent && { parts, help: branchText(parent, isMarked(parts)) }),
    ...(help && { parts, help: helpText(help, isMarked(parts)) }),
    ...(shown && { shown }),
  };
}
