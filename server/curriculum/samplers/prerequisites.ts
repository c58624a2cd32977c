import { z } from "zod";
import { UserError } from "../../../shared/errors.ts";
import { sampler } from "../../config/declaration.ts";
import { singly } from "../classes.ts";
import { SumTree } from "../sumTree.ts";
import type { Known, Sampler } from "../types.ts";
import { valueOf } from "./columns.ts";
import { drawApart, drawFrom } from "./independent.ts";

type Requires = Readonly<Record<string, readonly string[]>>;

/** The arms of the first circle that is found, one requiring the next; undefined: there is none. */
function circle(requires: Requires): readonly string[] | undefined {
  const free = new Set<string>();
  const follow = (arm: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(arm)) return [...path.slice(path.indexOf(arm)), arm];
    if (free.has(arm)) return undefined;
    for (const before of requires[arm] ?? []) {
      const found = follow(before, [...path, arm]);
      if (found !== undefined) return found;
    }
    free.add(arm);
    return undefined;
  };
  for (const arm of Object.keys(requires)) {
    const found = follow(arm, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unknownArm(name: string, { arms, size }: Known): UserError {
  const some = Array.from({ length: Math.min(size, 8) }, (_, arm) => arms.name(arm)).join(", ");
  return new UserError(`prerequisites: an arm requires ${name}, and there is no such arm`, {
    code: "prerequisites",
    action: `The arms are ${some}${size > 8 ? ", …" : ""}: write one of these, or leave it out.`,
  });
}

const groups = ["frontier", "mastered", "locked"] as const;

export const prerequisites = sampler({
  name: "prerequisites",
  aliases: ["frontier"],
  summary:
    "Walks along a graph of arms: mostly those that are not mastered and whose prerequisites are. A locked arm opens as well when it succeeds by itself, so that a wrong edge of the graph does not shut it for good.",
  formula:
    "mastered: Q(a) ≥ mastered; frontier: of the others those with Q(b) ≥ mastered for all b that a requires, or Q(a) ≥ opens; p = review, explore and the rest, divided over mastered, locked and frontier arms alike",
  sources: [
    "Do Embodied Agents Dream of Pixelated Sheep: Embodied Decision Making using Language Guided World Modelling",
  ],
  status: "approximate",
  takes: ["estimate"],
  params: z.object({
    requires: z
      .record(z.string(), z.array(z.string()))
      .default({})
      .describe("By arm the arms that must be mastered before, e.g. `{ countdown/4: [countdown/3] }`."),
    mastered: z.number().default(0.8).describe("Estimate from which an arm is mastered."),
    opens: z
      .number()
      .positive()
      .default(0.1)
      .describe("Estimate at which a locked arm is open whatever it requires."),
    review: z.number().min(0).max(1).default(0.1).describe("Share of the draws for mastered arms."),
    explore: z.number().min(0).max(1).default(0.05).describe("Share of the draws for locked arms."),
  }),
  create: ({ requires, mastered, opens, review, explore }): Sampler => {
    if (review + explore > 1)
      throw new UserError(`prerequisites: review and explore together are ${review + explore} of the draws`, {
        code: "prerequisites",
        action: "Leave something for the frontier: their sum must not be above 1.",
      });
    const round = circle(requires);
    if (round !== undefined)
      throw new UserError(`prerequisites: arms require one another in a circle: ${round.join(" → ")}`, {
        code: "prerequisites",
        action: "Take one of these out of `requires`: none of them could ever be on the frontier.",
      });
    const quotas = { frontier: 1 - review - explore, mastered: review, locked: explore };
    const isMastered = (known: Known, arm: number): boolean => valueOf(known, arm) >= mastered;
    const groupOf = (known: Known, arm: number): (typeof groups)[number] => {
      if (isMastered(known, arm)) return "mastered";
      const before = (requires[known.arms.name(arm)] ?? []).map((name) => {
        const found = known.arms.find(name);
        if (found < 0) throw unknownArm(name, known);
        return found;
      });
      const open = valueOf(known, arm) >= opens || before.every((one) => isMastered(known, one));
      return open ? "frontier" : "locked";
    };
    const probabilities: Sampler["probabilities"] = (known) => {
      const group = Array.from({ length: known.size }, (_, arm) => groupOf(known, arm));
      const counts = { frontier: 0, mastered: 0, locked: 0 };
      for (let arm = 0; arm < known.size; arm++) counts[group[arm]!] += Number(known.open(arm));
      // What a group without arms does not take goes to the others.
      const sum = groups.reduce((total, one) => total + (counts[one] > 0 ? quotas[one] : 0), 0);
      const all = counts.frontier + counts.mastered + counts.locked;
      return Float64Array.from(group, (one, arm) => {
        if (!known.open(arm)) return 0;
        return sum > 0 ? quotas[one] / counts[one] / sum : 1 / all;
      });
    };
    return {
      probabilities,
      draw: (known, n, random, clock) => {
        const p = probabilities(known, clock);
        return known.once ? drawApart(singly(known), p, new SumTree(p), n, random) : drawFrom(p, n, random);
      },
    };
  },
});
