/** What a `*.curriculum.test.yaml` may say. */
import { z } from "zod";
import { metrics } from "../../../shared/metrics/metrics.ts";
import { levels, scenarios } from "../simulate/scenarios.ts";

/** Those of a run's metrics that a simulation has. */
export const simulatedMetrics = [
  "groups/mixed",
  "groups/all_right",
  "groups/all_wrong",
  "groups/zero_advantage",
  "groups/success_rate",
  "groups/admitted",
  "groups/drawn",
  "rollout/count",
  "eval/pass@1",
] as const;
export type SimulatedMetric = (typeof simulatedMetrics)[number];

const listed = (name: SimulatedMetric) =>
  metrics.find((one) => one.name === name.replace("pass@1", "pass@k"));
export const betterOf = (name: SimulatedMetric): "higher" | "lower" | null => listed(name)?.better ?? null;

const whole = (least: number) => z.number().int().min(least);
const share = z.number().min(0).max(1);
const level = whole(1).max(levels);

const expectationSchema = z.strictObject({
  metric: z.enum(simulatedMetrics).optional(),
  /** Of the groups drawn, those of such tasks: by the learner's chance to solve one, and by level. */
  share_of: z
    .strictObject({
      success: z.tuple([share, share]).optional(),
      level: z.tuple([level, level]).optional(),
    })
    .optional(),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
  beats: z.enum(["uniform"]).optional(),
  window: whole(1).optional(),
  always: z.literal(true).optional(),
  after: whole(0).optional(),
});
export type CurriculumExpectation = z.output<typeof expectationSchema>;

const testSchema = z.strictObject({
  name: z.string().min(1),
  learner: z
    .strictObject({
      scenario: z.enum(scenarios.map(({ name }) => name)).optional(),
      success: z.number().gt(0).lt(1).optional(),
    })
    .optional(),
  steps: whole(1).max(10_000).optional(),
  expect: z.array(expectationSchema).min(1),
});
export type WrittenTest = z.output<typeof testSchema>;

export const fileSchema = z.strictObject({
  config: z.string().min(1).optional(),
  seeds: z.array(z.number().int()).min(1).optional(),
  tests: z.array(testSchema).min(1),
});

interface Complaint {
  /** In the expectation. */
  readonly path: readonly string[];
  readonly message: string;
}

/** What is wrong between keys whose values are right one by one. */
export function complaintsAbout(
  { metric, share_of: of, after, ...bounds }: CurriculumExpectation,
  steps: number | undefined,
): Complaint[] {
  const found: Complaint[] = [];
  const refuse = (message: string, ...path: string[]): void => void found.push({ path, message });
  if ((metric === undefined) === (of === undefined)) refuse("needs either `metric` or `share_of`");
  if (of !== undefined && (of.success ?? of.level) === undefined)
    refuse("needs `success: [0, 0.01]` or `level: [9, 10]`", "share_of");
  for (const [key, range] of Object.entries(of ?? {})) {
    const [low, high] = range ?? [0, 0];
    if (low > high) refuse(`the lower bound comes first: [${high}, ${low}]`, "share_of", key);
  }
  const { beats, at_least: least, at_most: most } = bounds;
  if ((least ?? most ?? beats) === undefined) refuse("needs `at_least`, `at_most` or `beats: uniform`");
  if (beats !== undefined && (metric === undefined || betterOf(metric) === null))
    refuse("only a metric of which more, or less, is better can beat uniform sampling", "beats");
  const isShare = metric === undefined || listed(metric)?.unit === "fraction";
  for (const [key, bound] of Object.entries({ at_least: least, at_most: most }))
    if (isShare && bound !== undefined && (bound < 0 || bound > 1))
      refuse(`${bound} is not between 0 and 1: for 60 % write 0.6`, key);
  if (steps !== undefined && after !== undefined && after >= steps)
    refuse(`no step comes after ${after}: the test ends with step ${steps}`, "after");
  return found;
}
