/** Which arms a saved curriculum had. Its state goes by their numbers, and a file of tasks may have changed since. */
import { z } from "zod";
import type { Division, SourceOf } from "../../core/slots/curriculum.ts";
import type { Saved } from "../../core/basics.ts";
import type { Fault } from "./curriculumFaults.ts";

const schema = z.object({ stamps: z.record(z.string(), z.string()), names: z.array(z.string()).optional() });

/** Names by number; undefined for points, and for single tasks, which the stamps of their sources identify. */
const namesOf = ({ arms, once }: Division): string[] | undefined =>
  once === true || arms.box !== undefined
    ? undefined
    : Array.from({ length: arms.size }, (_, arm) => arms.name(arm));

export function saveArms(division: Division, sources: readonly SourceOf[]): Saved {
  const names = namesOf(division);
  const stamps = sources.flatMap(({ source: { name, stamp } }) =>
    stamp === undefined ? [] : [[name, stamp]],
  );
  return { json: { stamps: Object.fromEntries(stamps), ...(names === undefined ? {} : { names }) } };
}

/** What has changed when a run is resumed. */
export interface Changed {
  /** Sources whose tasks have changed. */
  readonly sources: readonly string[];
  /** Whether the numbers still mean the same arms. */
  readonly sameArms: boolean;
}

export function changedSince(saved: Saved, division: Division, sources: readonly SourceOf[]): Changed {
  const before = schema.safeParse(saved.json).data;
  if (before === undefined) return { sources: [], sameArms: true };
  const changed = sources.flatMap(({ source: { name, stamp } }) => {
    const known = before.stamps[name];
    return stamp === undefined || known === undefined || known === stamp ? [] : [name];
  });
  const names = namesOf(division);
  const same =
    names === undefined || (before.names ?? []).every((name, arm) => (names[arm] ?? name) === name);
  return { sources: changed, sameArms: same && (names !== undefined || changed.length === 0) };
}

/** The fault to report. */
export const tasksChanged = ({ sources, sameArms }: Changed): Fault[] =>
  sources.length === 0 && sameArms
    ? []
    : [
        {
          code: "tasks-changed",
          message: `the tasks ${sources.length === 0 ? "" : `of ${sources.join(", ")} `}have changed since the run started${sameArms ? "" : ", so the curriculum starts without its estimates"}`,
          action:
            "Evaluations before and after cannot be compared. To continue as before, restore the file and resume; to train on the changed file, start a new run.",
        },
      ];
