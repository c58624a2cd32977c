/** Rollouts of a step, and the explanation of one of them, as the real functions give them. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { panelGroups, panelTexts } from "../../extension/features/panel/groups.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { why } from "../../server/analysis/explain/why.ts";
import { panelVersion, type RolloutPlace, type ToPanel } from "../../shared/editor/runPanel.ts";
import type { GroupRow } from "../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../shared/rollouts/rollouts.ts";
import { numberStream } from "./random.ts";

const config = `
tasks: [{ env: countdown }]
reward:
  terms:
    correct: { use: equation }
    brevity: { use: length, weight: 0.5 }
    style: { use: format, weight: 0.2 }
`;

export function rolloutsOf(step: number): readonly RolloutRow[] {
  return Array.from({ length: 6 }, (_, group) => {
    const noise = numberStream(100 * step + group);
    return Array.from({ length: 8 }, (_, index): RolloutRow => {
      const length = 8 + (index % 5);
      const failed = group === 1 && index === 5;
      const right = group === 4 ? 1 : noise() > 0.3 ? 1 : 0;
      return guided({
        step,
        group: `countdown ${group + 3} ${group + 5} 7 → ${20 + group}`,
        index,
        use: "train",
        task: { arm: `countdown/${3 + (group % 3)}` },
        prompt: `Using the numbers [${group + 3}, ${group + 5}, 7], make ${20 + group}.`,
        response: `<think>${group + 3} + 7 is ${group + 10}${", so I try more".repeat(index % 4)}…</think>\n<answer>(${group + 3} + 7) * ${index + 2}</answer>`,
        rewards: {
          ...(failed ? {} : { correct: right }),
          brevity: group === 4 ? 0 : -Math.abs(noise()),
          style: index % 3 === 0 ? null : 1,
        },
        ...(failed ? { errors: { correct: "timeout after 2 s" } } : {}),
        ...(group === judgedGroup ? { details: judgedBy(index) } : {}),
        logp_old: Array.from({ length }, () => -Math.abs(noise())),
        origin: Array.from({ length }, (_, i) => (i === 4 || i === 5 ? "observed" : "written")),
        touched:
          index === 3
            ? {
                clip_high: [
                  [1, 2],
                  [6, 8],
                ],
              }
            : {},
      });
    });
  }).flat();
}

/** The group whose rollouts a rubric judges. */
const judgedGroup = 2;

function judgedBy(index: number): NonNullable<RolloutRow["details"]> {
  const met = (every: number): number => (index % every === 0 ? 1 : 0);
  return {
    style: {
      criteria: [
        {
          name: "reasons first",
          text: "Says how it goes about it before it answers.",
          points: 3,
          met: met(2),
        },
        {
          text: "The answer stands in one <answer> tag, uses each number at most once, and nothing follows behind it.",
          points: 5,
          met: index === 6 ? null : 1,
        },
        { text: "Makes up a number that the task has not", points: -4, veto: true, met: met(3) },
        { text: "Is brief", points: 1, met: index / 8 },
      ],
    },
  };
}
export const judged: RolloutPlace = { step: 384, group: "countdown 5 7 7 → 22", index: 3 };

/** An attempt that was wrong, what was said to it, and another. */
function episode(row: RolloutRow): RolloutRow {
  const turns = [
    { role: "assistant", start: 0, end: 4, text: "<answer>7 + 6 + 4</answer>", finish: "stop" },
    { role: "user", start: 4, end: 6, text: "\nIncorrect, 1 left.\n" },
    { role: "assistant", start: 6, end: row.logp_old?.length ?? 6, text: "<answer>(6 - 4) * 7</answer>" },
  ] as const;
  return { ...row, response: turns.map(({ text }) => text).join(""), turns, tries: 2 };
}

/** A rollout of the same group that began with half of a solution, one whose teacher read a sibling, and an episode. */
function guided(row: RolloutRow): RolloutRow {
  if (row.index === 4) return episode(row);
  if (row.index === 6)
    return { ...row, shown: { sibling: "<think>7 × 3 is 21.</think>\n<answer>7 * (4 - 1)</answer>" } };
  if (row.index !== 2) return row;
  const text = "<think>7 is a third of 21, so the other two\nhave to make 3. ";
  return {
    ...row,
    source: "guided",
    response: `${text}4 and 6 do not…</think>\n<answer>(6 - 4) * 7</answer>`,
    help: {
      use: "solution",
      share: 0.5,
      round: 1,
      given: 4,
      text,
      trains: { given: { tokens: 4, trained: 0 }, written: { tokens: 4, trained: 4 } },
    },
  };
}
export const helped: RolloutPlace = { step: 384, group: "countdown 4 6 7 → 21", index: 2 };
export const taught: RolloutPlace = { ...helped, index: 6 };
export const played: RolloutPlace = { ...helped, index: 4 };

export const chosen: RolloutPlace = { step: 384, group: "countdown 4 6 7 → 21", index: 3 };

const loaded = (() => {
  const file = join(mkdtempSync(join(tmpdir(), "gradus-webview-")), "test.gradus.yaml");
  writeFileSync(file, config);
  const { config: found } = loadConfig(file);
  if (found === undefined) throw new Error("the config of the fake rollouts has errors");
  return found;
})();

const explained = (rows: readonly RolloutRow[], place: RolloutPlace) =>
  why(
    loaded,
    rows.map((row, line) => ({ row, place: { file: "rollouts.jsonl", line } })),
    place,
  );

/** One explanation a group: it has what its siblings got. */
function withAdvantages(rows: readonly RolloutRow[]) {
  return [...new Set(rows.map(({ group }) => group))].flatMap((group) => {
    const own = rows.filter((row) => row.group === group);
    const { siblings } = explained(rows, own[0]!);
    return own.map((row) => {
      const { reward, advantage } = siblings.find(({ index }) => index === row.index)!;
      return { ...row, reward, advantage };
    });
  });
}

/** The rollouts as the feed lists them: with the advantages that the run has recorded. */
export function rolloutsMessage(step: number): ToPanel {
  const recorded = withAdvantages(rolloutsOf(step));
  const groups = [...new Set(recorded.map(({ group }) => group))].map((group): GroupRow => {
    const own = recorded.filter((row) => row.group === group);
    const right = own.filter(({ rewards }) => rewards?.["correct"] === 1).length;
    const admitted = right > 0 && right < own.length;
    return {
      step,
      group,
      task: group,
      arm: own[0]?.task?.arm ?? "",
      admitted: true,
      reason: admitted ? null : "all alike",
      successes: right,
      size: own.length,
    };
  });
  return { version: panelVersion, type: "rollouts", step, groups: panelGroups(groups, recorded), more: 0 };
}

export function whyMessage(place: RolloutPlace): ToPanel {
  const rows = rolloutsOf(place.step);
  const own = rows.find(({ group, index }) => group === place.group && index === place.index);
  return { version: panelVersion, type: "why", why: explained(rows, place), ...panelTexts(own) };
}
