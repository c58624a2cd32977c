/** Answers of two runs to the same held-out tasks. Pure but for its session. */
import { evaluationsQuery, rolloutsQuery } from "../../../shared/protocol/protocol.ts";
import type { TaskPair } from "../../../shared/editor/comparePanel.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Asker } from "../connection/asker.ts";

/** Answers read of a run, and pairs shown. */
const [mostRead, mostShown] = [512, 40];

/** Greedy and drawn answers that were recorded at the last evaluation. */
export async function answersOf(source: Asker, run: string): Promise<readonly RolloutRow[]> {
  const { evaluations } = await source.ask(evaluationsQuery, { run });
  const step = evaluations.at(-1)?.step;
  if (step === undefined) return [];
  const where = 'use == "evaluate"';
  return (await source.ask(rolloutsQuery, { run, step, where, limit: mostRead })).rollouts;
}

const keyOf = ({ task, group, prompt = "", index }: RolloutRow): string =>
  `${task?.id ?? `${group} ${prompt}`}#${index}`;
const numberOf = (value: RolloutRow["reward"]): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** By task and answer; those whose rewards differ most come first. */
export function taskPairs(base: readonly RolloutRow[], other: readonly RolloutRow[]): readonly TaskPair[] {
  const others = new Map(other.map((row) => [keyOf(row), row]));
  const pairs = base.flatMap((row): TaskPair[] => {
    const match = others.get(keyOf(row));
    if (match === undefined) return [];
    const both = [row, match] as const;
    return [
      {
        key: keyOf(row),
        prompt: row.prompt ?? row.group,
        rewards: [numberOf(both[0].reward), numberOf(both[1].reward)],
        responses: [row.response ?? "", match.response ?? ""],
      },
    ];
  });
  const apart = ({ rewards: [one, two] }: TaskPair): number => Math.abs((one ?? 0) - (two ?? 0));
  return [...pairs].sort((one, two) => apart(two) - apart(one)).slice(0, mostShown);
}

/** One side of the diff editor. */
export const answerText = ({ prompt, rewards, responses }: TaskPair, side: 0 | 1): string =>
  `${prompt}\n\n── reward ${rewards[side] ?? "not scored"} ──\n\n${responses[side]}\n`;
