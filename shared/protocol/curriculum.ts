/** What the curriculum drew and what came of it: groups, lanes, tasks that a run has made. */
import { z } from "zod";
import { request } from "./descriptor.ts";
import { run, stepRange } from "./parameters.ts";

export interface GroupRow {
  readonly step: number;
  readonly group: string;
  readonly task: string;
  readonly arm: string;
  readonly admitted: boolean;
  readonly reason: string | null;
  readonly successes: number;
  readonly size: number;
}
/** What lanes of the curriculum represent. A family is a set of arms where arms are many: else the arm itself. */
const lane = z.enum(["arm", "task", "family"]);
export type Lane = z.output<typeof lane>;
export const groupsQuery = request<{ readonly groups: readonly GroupRow[] }>()(
  "gradus/groups",
  run.extend({
    ...stepRange,
    /** Only groups of these arms, tasks or families; empty: of all. */
    by: lane.default("arm"),
    names: z.array(z.string()).default([]),
    limit: z.number().int().positive().max(100_000).default(10_000),
  }),
);
/** What came of a number of groups. Tokens are those of their rollouts, as far as these have been read. */
export interface GroupTally {
  readonly groups: number;
  readonly admitted: number;
  /** Groups of which no rollout was right, and of which all were. */
  readonly dead: number;
  readonly exhausted: number;
  readonly successes: number;
  readonly rollouts: number;
  readonly tokens: number;
  readonly deadTokens: number;
  readonly exhaustedTokens: number;
  /** Groups whose rollouts have not been read yet: their tokens are not counted. */
  readonly unmeasured: number;
}
/** Where a task that the run has made comes from. */
export interface TaskOrigin {
  readonly source: string;
  /** Ids of tasks, made or not. */
  readonly parents: readonly string[];
  /** 1 for a child of a task that was not made. */
  readonly generation: number;
  readonly step: number;
  readonly transform: string;
  readonly author: string;
  /** Where its answer comes from. */
  readonly answered: string;
  /** What came of the rollouts that tried it before it was taken in. */
  readonly tried: { readonly successes: number; readonly rollouts: number } | null;
}
/** A task that the run has made. */
export interface MadeTask extends TaskOrigin {
  readonly id: string;
  readonly prompt: string;
  readonly answer: string | null;
  /** What came of it in training. */
  readonly seen: { readonly groups: number; readonly successes: number; readonly rollouts: number };
}
/** In the order in which they were made. */
export const tasksQuery = request<{ readonly tasks: readonly MadeTask[] }>()(
  "gradus/tasks",
  run.extend({
    source: z.string().optional().describe("Only tasks of this task source."),
    limit: z.number().int().positive().max(100_000).default(10_000).describe("Only this many of the latest."),
  }),
);
/** An arm, a family or a task over the steps. The arrays are as long as each other: one entry a column in which it was drawn. */
export interface CurriculumLane extends GroupTally {
  readonly name: string;
  /** Different tasks that were drawn of it. */
  readonly tasks: number;
  /** Where it is a single task that the run has made. */
  readonly made?: TaskOrigin;
  readonly columns: readonly number[];
  readonly drawn: readonly number[];
  readonly admittedIn: readonly number[];
  /** Share of right rollouts, 0 to 1; null where none was scored. */
  readonly rates: readonly (number | null)[];
}
export interface CurriculumOverview {
  /** Steps of the run whose groups are not counted yet: a further question reads on. Absent: none. */
  readonly unread?: number;
  readonly by: Lane;
  /** Only groups of this arm; null: of all. */
  readonly arm: string | null;
  /** Only groups of this family of arms; null: of all. */
  readonly family: string | null;
  readonly from: number;
  readonly to: number;
  /** Steps in a column; column i begins at step from + i · width. */
  readonly width: number;
  /** Most drawn first. */
  readonly lanes: readonly CurriculumLane[];
  /** Arms, families or tasks that are not among the lanes. */
  readonly more: number;
  readonly columns: readonly (GroupTally & { readonly column: number })[];
  /** Why groups were left out, most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly groups: number }[];
}
/** The groups of a run, counted by arm, family or task and by steps. */
export const curriculumQuery = request<CurriculumOverview>()(
  "gradus/curriculum",
  run.extend({
    by: z
      .enum([...lane.options, "auto"])
      .default("arm")
      .describe("auto: families if arms have them, else arms."),
    arm: z.string().optional().describe("Only groups of this arm."),
    family: z.string().optional().describe("Only groups of arms of this family."),
    from: z.number().int().nonnegative().default(0),
    to: z.number().int().nonnegative().optional(),
    columns: z.number().int().positive().max(2_000).default(240),
    lanes: z.number().int().positive().max(500).default(40),
  }),
);

/** A test of a `*.curriculum.test.yaml`, as simulated learners have it. Lines and characters count from 0. */
export interface CurriculumTestOutcome {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  /** Of the expectations that are not met, one each; none: the test passed. */
  readonly failures: readonly {
    readonly line: number;
    readonly character: number;
    readonly message: string;
  }[];
}
/** Runs tests of curricula. Nothing of the workspace runs for it. */
export const curriculumTest = request<{
  readonly outcomes: readonly CurriculumTestOutcome[];
  /** Files that could not be run, and why. */
  readonly broken: readonly {
    readonly file: string;
    readonly line: number;
    readonly character: number;
    readonly message: string;
  }[];
}>()(
  "gradus/curriculum/test",
  z.object({
    files: z.array(z.string()).describe("Absolute paths of files of tests."),
  }),
);
