/** The groups of a step as the run panel lists them. Pure. */
import type { GroupRow } from "../../../shared/protocol/protocol.ts";
import {
  fromWire,
  type MaybeNumber,
  type RolloutRow,
  type WireReward,
} from "../../../shared/rollouts/rollouts.ts";
import { branchText } from "../../../shared/rollouts/branchText.ts";
import { helpText } from "../../../shared/rollouts/helpText.ts";
import { isMarked, responseParts } from "../../../shared/rollouts/responseParts.ts";
import { groupVerdict } from "../rollouts/verdict.ts";
import type { PanelGroup, ToPanel } from "../../../shared/editor/runPanel.ts";

const numberOrNull = (value: MaybeNumber | undefined): number | null => {
  const number = fromWire(value ?? null);
  return Number.isFinite(number) ? number : null;
};

/** Characters of a response and of a prompt that a list of a step shows; the rest comes with one rollout's explanation. */
const [mostText, mostPrompt] = [2_000, 600];
/** A character is not cut in two. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…`;

/** One value a rollout, of a term that scores its parts their sum; null: it does not apply. */
function scoreOf(reward: WireReward): number | null {
  if (typeof reward !== "object" || reward === null) return numberOrNull(reward);
  const values = reward.values.map((value) => numberOrNull(value) ?? 0);
  return values.reduce((sum, value) => sum + value, 0);
}

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
    const { task, arm, admitted, reason, size, successes } = known.get(group) ?? {};
    const first = members[0]?.task;
    const advantages = members.map(({ advantage }) => numberOrNull(advantage));
    const trains = admitted ?? members[0]?.admitted ?? true;
    return {
      group,
      task: task ?? first?.id ?? group,
      arm: arm ?? first?.arm ?? "",
      verdict: groupVerdict({ admitted: trains, reason: reason ?? null, size }, members),
      prompt: cut(members.find(({ prompt }) => prompt !== undefined)?.prompt ?? "", mostPrompt),
      right: successes !== undefined && size === members.length ? successes : null,
      signal: advantages.some((advantage) => advantage !== null && advantage !== 0),
      rollouts: members
        .sort((one, other) => one.index - other.index)
        .map(({ index, reward, advantage, errors = {}, response = "", rewards = {} }) => ({
          index,
          reward: numberOrNull(reward),
          advantage: numberOrNull(advantage),
          sound: Object.keys(errors).length === 0,
          text: cut(response, mostText),
          whole: response.length <= mostText,
          terms: Object.fromEntries(Object.entries(rewards).map(([term, value]) => [term, scoreOf(value)])),
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
