/** Past curricula that a run can follow: of its box, and with measurements to compare. */
import { UserError } from "../../../../../shared/lib/errors.ts";
import { boxOf, sameBox, type Box, type PastCurriculum, type ReadCurriculum } from "../../pastCurriculum.ts";
import type { Knob } from "../../../../core/slots/tasks.ts";
import { worthFollowing } from "./replayedMixtures.ts";

const words = (box: Box): string =>
  box.map(({ name, low, high }) => `${name} ${low} to ${high}`).join(", ") || "no box";

function refuse({ file, line }: ReadCurriculum, message: string, action: string): never {
  throw new UserError(message, { file, line, code: "past-curricula", action });
}

/**
 * @param points names of those that this run measures
 * @throws UserError for a run of another box, one without what it is compared by, and where none is worth following
 */
export function candidatePasts(
  read: readonly ReadCurriculum[],
  knobs: readonly Knob[],
  points: ReadonlySet<string>,
  least: number,
): PastCurriculum[] {
  for (const one of read) {
    const { run, mixtures, knowledge, box } = one.past;
    if (mixtures.length === 0)
      refuse(
        one,
        `the run ${run} has recorded no mixtures`,
        "Take it out, or train it with `sampler: gmm` or `again` for at least `fit_every` groups and export it again.",
      );
    if (!sameBox(box, boxOf(knobs)))
      refuse(
        one,
        `the run ${run} chose from another box (${words(box)}) than this one (${words(boxOf(knobs))})`,
        "Leave it out, or give `arms: { use: parameters, box: … }` its names and ranges.",
      );
    // One run is followed whatever it knew.
    if (read.length > 1 && !knowledge.some((measured) => measured.points.some((name) => points.has(name))))
      refuse(
        one,
        `the run ${run} measured what it knew at none of the points that this run is to be compared at`,
        "Leave it out, or train it with `probe_every` and the same `probe_points` as this run.",
      );
  }
  const worth = read.filter(({ past }) => worthFollowing(past, least).length > 0);
  if (worth.length > 0 || read.length === 0) return worth.map(({ past }) => past);
  const most = Math.max(
    ...read.flatMap(({ past }) =>
      past.mixtures.flatMap(({ components }) => components.map(({ mean }) => mean.at(-1)!)),
    ),
  );
  return refuse(
    read[0]!,
    `no past run has a component of a mean signal above ${least}: the largest is ${Number(most.toFixed(4))}`,
    "Lower `least` below it, or follow other runs.",
  );
}
