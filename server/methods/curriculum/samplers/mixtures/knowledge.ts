/** What the policy can do at a grid of points, measured from time to time by rollouts that train nothing. */
import { z } from "zod";
import { param } from "../../../../core/declaration.ts";
import type { Knob } from "../../../../core/slots/tasks.ts";
import type { Group } from "../../../../core/rollouts.ts";
import type { Knowledge } from "../../pastCurriculum.ts";
import { fromUnit } from "../../points.ts";
import type { ArmSet } from "../../../../core/slots/arms.ts";
import type { PilotRollouts } from "../../../../core/slots/curriculum.ts";

export const knowledgeParams = {
  probe_points: param(
    z.number().int().min(1).max(4096).default(49),
    "At most so many points, a grid over the box: 7 × 7 where it has two dimensions.",
  ),
  probe_samples: param(z.number().int().min(1).max(256).default(4), "Rollouts of each point's task."),
};
/** @param otherwise describes 0 */
export const probeEvery = (least: 0 | 1, otherwise = ""): z.ZodNumber =>
  param(
    z.number().int().min(least),
    `Groups between two measurements of what the policy knows at a grid of points, by rollouts that train nothing${otherwise}. Runs are compared by them.`,
  );

export type ProbeOptions = z.output<z.ZodObject<typeof knowledgeParams>> & { readonly probe_every: number };

/** A grid of at most `most` points from end to end of every dimension; a single one lies in the middle. */
export function gridOf(box: readonly Knob[], most: number): number[][] {
  // Rounding must not make 3 of the cube root of 64.
  const each = Math.max(1, Math.floor(most ** (1 / box.length) + 1e-9));
  const ends = Array.from({ length: each }, (_, i) => (each === 1 ? 0.5 : i / (each - 1)));
  const units = box.reduce<number[][]>(
    (points) => points.flatMap((point) => ends.map((place) => [...point, place])),
    [[]],
  );
  return units.map((unit) => fromUnit(box, unit));
}

export class KnowledgePilots {
  /** Measurements so far. */
  count = 0;
  /** Groups observed when the current measurement was requested. */
  private asked = 0;

  constructor(private readonly options: ProbeOptions) {}

  /** Arms of the grid, each once. */
  gridArms(arms: ArmSet): number[] {
    const { box } = arms;
    if (box === undefined || arms.place === undefined) return [];
    return [...new Set(gridOf(box, this.options.probe_points).map((point) => arms.place!(point)))];
  }

  /** @param groups observed so far */
  next(arms: ArmSet, groups: number): PilotRollouts | undefined {
    const { probe_every, probe_samples } = this.options;
    if (probe_every === 0 || groups < probe_every * (this.count + 1)) return undefined;
    const grid = this.gridArms(arms);
    this.count = Math.floor(groups / probe_every);
    this.asked = groups;
    return grid.length === 0 ? undefined : { arms: grid, samples: probe_samples, sameTasks: true };
  }

  /** The result of a measurement. */
  measured(groups: readonly Group[]): Knowledge {
    return {
      groups: this.asked,
      points: groups.map(({ arm }) => arm),
      tasks: groups.map(({ task }) => task.id),
      rates: groups.map(({ successes, rewards }) =>
        rewards.length === 0 ? null : successes / rewards.length,
      ),
    };
  }

  save(): number {
    return this.count;
  }
  load(json: unknown): void {
    this.count = typeof json === "number" ? json : 0;
  }
}
