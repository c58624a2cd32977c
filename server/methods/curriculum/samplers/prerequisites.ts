import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { sampler, param } from "../../../core/declaration.ts";
import type { ArmPool, FastSampler } from "../../../core/slots/fastArms.ts";
import type { Columns } from "../fast/columns.ts";
import { independent } from "../fast/independent.ts";

type Requires = Readonly<Record<string, readonly string[]>>;

/** The arms of the first cycle found, each requiring the next; undefined: there is none. */
function cycleIn(requires: Requires): readonly string[] | undefined {
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

function unknownArm(name: string, { arms, size }: Pick<ArmPool, "arms" | "size">): UserError {
  const some = Array.from({ length: Math.min(size, 8) }, (_, arm) => arms.name(arm)).join(", ");
  return new UserError(`prerequisites: an arm requires ${name}, which is not an arm`, {
    code: "prerequisites",
    action: `The arms are ${some}${size > 8 ? ", …" : ""}: name one of these, or remove the requirement.`,
  });
}

/** Which arms require which others, by number. */
class Requirements {
  private readonly names: ReadonlySet<string>;
  /** Named arms that have been added so far. */
  private readonly numbers = new Map<string, number>();
  /** Arms searched so far. */
  private searched = 0;
  private readonly before = new Map<number, readonly number[]>();

  constructor(private readonly requires: Requires) {
    this.names = new Set(Object.entries(requires).flatMap(([name, before]) => [name, ...before]));
  }

  /** Looks for the named arms among those added since. @throws UserError where one requires an unknown arm */
  find(pool: ArmPool): void {
    if (this.searched === pool.size || this.names.size === 0) return;
    const { arms } = pool;
    const found =
      arms.numbersOf?.(this.names, this.searched) ??
      [...this.names].map((one) => [one, arms.find(one)] as const);
    for (const [name, arm] of found) if (arm >= 0) this.numbers.set(name, arm);
    for (const [name, required] of Object.entries(this.requires)) {
      const arm = this.numbers.get(name);
      if (arm !== undefined)
        this.before.set(
          arm,
          required.map((one) => this.numberOf(one, pool)),
        );
    }
    this.searched = pool.size;
  }

  private numberOf(name: string, pool: ArmPool): number {
    const arm = this.numbers.get(name);
    if (arm === undefined) throw unknownArm(name, pool);
    return arm;
  }

  of(arm: number): readonly number[] {
    return this.before.get(arm) ?? [];
  }
  /** A number of its own for each arm that requires others; 0: it requires none. */
  own(arm: number): number {
    return this.before.has(arm) ? arm + 1 : 0;
  }
}

type Group = "frontier" | "mastered" | "locked";

export const prerequisites = sampler({
  name: "prerequisites",
  aliases: ["frontier"],
  summary:
    "Follows a graph of prerequisites: draws mostly arms that are not mastered but whose prerequisites are. A locked arm also opens when it succeeds on its own, so that a wrong edge cannot lock it forever.",
  formula:
    "mastered: Q(a) ≥ mastered; frontier: of the others those with Q(b) ≥ mastered for all b that a requires, or Q(a) ≥ opens; p = review, explore and the rest, divided over mastered, locked and frontier arms alike",
  sources: [
    "Do Embodied Agents Dream of Pixelated Sheep: Embodied Decision Making using Language Guided World Modelling",
  ],
  status: "approximate",
  takes: ["estimate"],
  failing: () => ({ kept: "counts every arm that is not mastered as frontier, also one that always fails" }),
  params: z.object({
    requires: param(
      z.record(z.string(), z.array(z.string())).default({}),
      "For each arm, the arms that must be mastered before it, e.g. `{ countdown/4: [countdown/3] }`.",
    ),
    mastered: param(z.number().default(0.8), "Estimate from which an arm is mastered."),
    opens: param(
      z.number().positive().default(0.1),
      "Estimate at which a locked arm opens whatever it requires.",
    ),
    review: param(z.number().min(0).max(1).default(0.1), "Share of the draws for mastered arms."),
    explore: param(z.number().min(0).max(1).default(0.05), "Share of the draws for locked arms."),
  }),
  create: ({ requires, mastered, opens, review, explore }): FastSampler => {
    if (review + explore > 1)
      throw new UserError(`prerequisites: review and explore together are ${review + explore} of the draws`, {
        code: "prerequisites",
        action: "Leave a share for the frontier: their sum must not exceed 1.",
      });
    const cycle = cycleIn(requires);
    if (cycle !== undefined)
      throw new UserError(`prerequisites: arms require one another in a circle: ${cycle.join(" → ")}`, {
        code: "prerequisites",
        action: "Remove one of these from `requires`: none of them can ever be on the frontier.",
      });
    const quotas = { frontier: 1 - review - explore, mastered: review, locked: explore };
    const requirements = new Requirements(requires);
    const groupOf = (estimate: number, arm: number, columns: Columns): Group => {
      if (estimate >= mastered) return "mastered";
      const isOpen =
        estimate >= opens || requirements.of(arm).every((before) => columns.estimate(before) >= mastered);
      return isOpen ? "frontier" : "locked";
    };
    const weights = (columns: Columns): Float64Array => {
      const { open, estimates, classes } = columns;
      const group = Array.from(estimates, (one, of) => groupOf(one, classes.first[of]!, columns));
      const counts = { frontier: 0, mastered: 0, locked: 0 };
      group.forEach((one, of) => (counts[one] += open[of]!));
      // The share of a group without arms goes to the others.
      return Float64Array.from(group, (one) => (counts[one] > 0 ? quotas[one] / counts[one] : 0));
    };
    const drawn = independent(["own", "estimate"], weights);
    return {
      ...drawn,
      classes: { reads: ["own", "estimate"], own: (arm) => requirements.own(arm) },
      probabilities: (pool, clock) => {
        requirements.find(pool);
        return drawn.probabilities(pool, clock);
      },
      draw: (pool, ...rest) => {
        requirements.find(pool);
        return drawn.draw(pool, ...rest);
      },
    };
  },
});
