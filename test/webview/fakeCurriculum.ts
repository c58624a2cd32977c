/** What the store answers of the fake run's groups: written into a real log, counted by the real query. */
import { curriculumQuery } from "../../shared/protocol/protocol.ts";
import { panelVersion, type CurriculumView, type ToPanel } from "../../shared/editor/runPanel.ts";
import type { Store } from "../../server/store/store.ts";
import { group, made, rollout, start, type Written } from "../unit/log/sample.ts";
import { newStore, write } from "../unit/store/support.ts";
import { arms, training, warmUp } from "./fakeRun.ts";
import { numberStream } from "./random.ts";

const reasons = { none: "all wrong", all: "all right" } as const;

/** The easy arm is mastered, the middle one is learned, the hard one hardly begins. */
function drawn(step: number, number: number): readonly Written[] {
  const noise = numberStream(step * 31 + number);
  const arm = number % 3;
  const ease = [0.55, 0.15, -0.1][arm]! + (step - warmUp) / training / 1.6 + 0.25 * noise();
  const successes = Math.min(8, Math.max(0, Math.round(8 * ease)));
  const name = `g${number}`;
  const reason = successes === 0 ? reasons.none : successes === 8 ? reasons.all : null;
  const written: Written = {
    ...group(step, name),
    ...({
      kind: "group",
      step,
      group: name,
      task: `${arms[arm]} ${(step * 5 + number) % 7}`,
      arm: arms[arm]!,
    } as const),
    admitted: reason === null,
    reason,
    successes,
    size: 8,
    signal: 0,
  };
  return [written, rollout(step, 0, name), rollout(step, 1, name)];
}

/** The same groups where every task is an arm of its own; every third of the last arm's was made by the run. */
function single(written: readonly Written[], step: number): readonly Written[] {
  return written.flatMap((record): Written[] => {
    if (record.kind !== "group") return [record];
    const { task, arm } = record;
    const born = arm === arms[2] && task.endsWith("3") && step < warmUp + 8;
    return [
      ...(born ? [made(step, task, [`${arms[2]} 5`])] : []),
      { ...record, arm: `countdown/${task}`, family: arm },
    ];
  });
}

let kept: Store | undefined;
function store(): Store {
  if (kept !== undefined) return kept;
  const { folder, store } = newStore();
  const steps = Array.from({ length: 85 }, (_, t) => {
    const step = warmUp + t;
    return [Array.from({ length: 12 }, (_, number) => drawn(step, number)).flat(), step] as const;
  });
  write(folder, "a", 0, [[[start()], -1], ...steps]);
  write(folder, "single", 0, [
    [[start()], -1],
    ...steps.map(([records, step]) => [single(records, step), step] as const),
  ]);
  for (const run of ["a", "single"]) store.ingestAll(run);
  return (kept = store);
}

/** @param run "single": arms are tasks, in families */
export function curriculumMessage(
  id: number,
  { by, arm, family, from, to }: CurriculumView,
  run: "a" | "single" = "a",
): ToPanel {
  const opened = { ...(arm === null ? {} : { arm }), ...(family === null ? {} : { family }) };
  const part = { run, by, from, to, ...opened };
  const overview = store().queries.curriculum(curriculumQuery.params.parse(part));
  return { version: panelVersion, type: "curriculum", id, overview };
}
