/** A response as what was said one after the other: turns where there are any, with the rewards that each was given. Pure. */
import { formatNumber, plural } from "../../../../shared/lib/format.ts";
import { responseParts } from "../../../../shared/rollouts/responseParts.ts";
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { onLines } from "../../../../shared/rollouts/turnTexts.ts";
import type { Origin } from "../../../../shared/rollouts/fields.ts";
import { signOf, type Sign } from "../writer.ts";

export interface Spoken {
  /** Of a turn: whose; undefined: the response has no turns. */
  readonly title: string | undefined;
  readonly detail: readonly { readonly text: string; readonly sign?: Sign | undefined }[];
  readonly kind: Origin;
  readonly text: string;
  /** UTF-16 units of the response before it. */
  readonly offset: number;
}

/** @returns with the response's tokens, where they are counted */
export function spokenOf(rollout: RolloutRow): {
  readonly spoken: readonly Spoken[];
  readonly tokens: number | undefined;
} {
  const { turns } = rollout;
  if (turns !== undefined && turns.length > 0 && turns.every(({ text }) => text !== undefined))
    return { spoken: turnsOf(rollout, turns), tokens: turns.at(-1)?.end };
  let offset = 0;
  const spoken = responseParts(rollout).map(({ kind, text }): Spoken => {
    const one = { title: undefined, detail: [], kind, text, offset };
    offset += text.length;
    return one;
  });
  const empty: Spoken = { title: undefined, detail: [], kind: "written", text: "", offset: 0 };
  return { spoken: spoken.length === 0 ? [empty] : spoken, tokens: undefined };
}

function turnsOf(rollout: RolloutRow, turns: NonNullable<RolloutRow["turns"]>): Spoken[] {
  const texts = onLines(turns.map(({ text = "" }) => text));
  let [offset, number] = [0, 0];
  return turns.map(({ role, agent, name, start, end, text = "", finish, actions }, i): Spoken => {
    const written = texts[i]!;
    const at = offset + written.length - text.length;
    offset += written.length;
    const isOwn = role === "assistant";
    const given = isOwn && end <= (rollout.help?.given ?? 0);
    if (isOwn) number += 1;
    return {
      title: [i + 1, agent ?? role, ...(name === undefined ? [] : [name])].join(" "),
      detail: [
        { text: plural(end - start, "token") },
        ...(actions === undefined ? [] : [{ text: `one of ${plural(actions.length, "action")}` }]),
        ...(finish === undefined || finish === "stop"
          ? []
          : [{ text: finish === "length" ? "truncated" : finish, sign: "error" as const }]),
        ...(isOwn ? rewardsOf(rollout, i, number - 1, [start, end]) : []),
      ],
      kind: !isOwn ? "observed" : given ? "given" : "written",
      text,
      offset: at,
    };
  });
}

/**
 * What terms gave the turn. A reward by turn may count all of them, or those of the policy alone.
 * @param own its number among the policy's turns
 */
function rewardsOf(
  { rewards = {}, turns = [], steps = [] }: RolloutRow,
  turn: number,
  own: number,
  [start, end]: readonly [number, number],
): { text: string; sign?: Sign | undefined }[] {
  return Object.entries(rewards).flatMap(([term, value]) => {
    if (value === null || typeof value !== "object") return [];
    const { level, values } = value;
    const given =
      level === "turn"
        ? [values[values.length === turns.length ? turn : own]]
        : level === "token"
          ? values.slice(start, end)
          : values.filter((_, i) => steps[i] !== undefined && steps[i][0] >= start && steps[i][1] <= end);
    const numbers = given.map((one) => fromWire(one ?? null)).filter((one) => !Number.isNaN(one));
    if (numbers.length === 0) return [];
    const sum = numbers.reduce((a, b) => a + b, 0);
    return level === "token" && sum === 0
      ? []
      : [{ text: `${term} ${formatNumber(sum)}`, sign: signOf(sum) }];
  });
}
