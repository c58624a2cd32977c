/** A run that forgets: of its held-out tasks some are learned, some kept, and some lost after the second or the third evaluation. */
import { panelTurnover, type PanelTurnover } from "../../shared/editor/panelTurnover.ts";
import { turnover, type Evaluated } from "../../shared/run/turnover.ts";
import { arms, warmUp } from "./fakeRun.ts";

/** By arm, what becomes of its tasks: a letter an evaluation, in capitals where the greedy answer is right. */
const fates: readonly (readonly [arm: number, fate: string, tasks: number])[] = [
  [0, "AAAA", 18],
  [0, "AAaa", 9],
  [0, "aAAa", 2],
  [1, "aaAA", 14],
  [1, "aAaa", 1],
  [1, "aaaa", 28],
  [2, "aaaA", 8],
  [2, "aaaa", 48],
];

/** The evaluations after the steps 0, 40, 80 and 119 of training. */
export const evaluatedTasks: readonly Evaluated[] = [0, 40, 80, 119].map((t, at) => {
  const asked = fates.flatMap(([arm, fate, count], kind) =>
    Array.from({ length: count }, (_, i) => ({ id: `countdown:${kind},${i}=24`, arm: arms[arm]!, fate })),
  );
  return {
    step: warmUp + t,
    results: {
      tasks: asked.map(({ id }) => id),
      arms: asked.map(({ arm }) => arm),
      samples: asked.map(() => 8),
      right: asked.map(({ fate }) => (fate[at] === "A" ? 5 : 1)),
      greedy: asked.map(({ fate }) => Number(fate[at] === "A")),
    },
  };
});

/** Answers of every third task were kept. */
const prompts = new Map(
  evaluatedTasks[0]!.results.tasks.flatMap((task, i): [string, string][] =>
    i % 3 === 0 ? [[task, `${3 + (i % 7)} ${2 + (i % 5)} ${7 + (i % 4)}=24:`]] : [],
  ),
);

export const forgetting = (evaluations: readonly Evaluated[] = evaluatedTasks): PanelTurnover =>
  panelTurnover(turnover(evaluations)!, prompts);
