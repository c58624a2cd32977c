import { formatCount, formatFraction } from "../../../../shared/lib/format.ts";
import { isObject } from "../json.ts";
import type { EvidenceKind, Sighting } from "../kind.ts";
import type { GroupTally } from "../record.ts";
import type { RunView } from "../view.ts";
import { inArm, training } from "../where.ts";

/** Rollouts that an arm must have had before "none was solved" says something. */
const telling = 64;
/** From this share of successes on, an arm has nothing left to teach. */
const mastered = 0.995;

interface ArmTally {
  readonly arm: string;
  successes: number;
  rollouts: number;
  step: number;
}

function tallies(groups: readonly GroupTally[]): ArmTally[] {
  const byArm = new Map<string, ArmTally>();
  for (const { arm, successes, rollouts, step } of groups) {
    const tally = byArm.get(arm) ?? { arm, successes: 0, rollouts: 0, step };
    tally.successes += successes;
    tally.rollouts += rollouts;
    tally.step = step;
    byArm.set(arm, tally);
  }
  return [...byArm.values()].sort((one, other) => one.arm.localeCompare(other.arm, "en"));
}

function extreme({
  arm,
  successes,
  rollouts,
  step,
}: ArmTally): Pick<Sighting & { level: "diagnostic" }, "message" | "rollouts"> | undefined {
  if (rollouts < telling) return undefined;
  const rollout = { step, where: `${inArm(arm)} && ${training}` };
  if (successes === 0)
    return { message: `Arm \`${arm}\`: 0 of ${formatCount(rollouts)} rollouts solved.`, rollouts: rollout };
  if (successes / rollouts >= mastered)
    return {
      message: `Arm \`${arm}\`: ${formatCount(successes)} of ${formatCount(rollouts)} rollouts solved. It has little left to teach.`,
      rollouts: rollout,
    };
  return undefined;
}

function ofTask(view: RunView, task: string, all: readonly ArmTally[]): Sighting[] {
  const own = all.filter(({ arm }) => arm === task || arm.startsWith(`${task}/`));
  if (own.length === 0) return [];
  const reads = [{ path: `tasks.${task}`, except: ["weight"] }, { path: "reward.success" }];
  const at = `tasks.${task}`;
  const over = view.over(new Set(view.groups.map(({ step }) => step)).size);
  const sightings = own.flatMap((tally): Sighting[] => {
    const found = extreme(tally);
    return found === undefined
      ? []
      : [
          {
            level: "diagnostic",
            at,
            reads,
            ...found,
            message: `${found.message.replace(" solved.", ` solved in ${over}.`)}`,
          },
        ];
  });
  const share = ({ arm, successes, rollouts }: ArmTally): string =>
    `${arm === task ? "" : `${arm.slice(task.length + 1)}: `}${formatFraction(successes / rollouts)}`;
  const shares = own.slice(0, 6).map(share).join(", ");
  const label = `solved ${shares}${own.length > 6 ? ", …" : ""}`;
  const lines = own.map(
    (tally) => `\`${tally.arm}\` ${formatCount(tally.successes)} of ${formatCount(tally.rollouts)}`,
  );
  return [
    ...sightings,
    { level: "note", at, reads, label, message: `Solved in ${over}: ${lines.join(", ")}.` },
  ];
}

export const arms: EvidenceKind = {
  id: "run-arm",
  see: (view) => {
    const tasks = view.value("tasks");
    if (!Array.isArray(tasks)) return [];
    const all = tallies(view.groups);
    return tasks.flatMap((task) => {
      const name = isObject(task) ? task["name"] : undefined;
      return typeof name === "string" ? ofTask(view, name, all) : [];
    });
  },
};
