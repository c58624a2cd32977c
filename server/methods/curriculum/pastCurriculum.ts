/** The curriculum of an earlier run: the mixtures it drew from, and what its policy could do at fixed points. */
import { readText } from "../../lib/inputFile.ts";
import { z } from "zod";
import { messageOf, readFailure, UserError } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Knob } from "../../core/slots/tasks.ts";
import type { CurriculumEvent } from "../../core/slots/curriculum.ts";

const numbers = z.array(z.number());
/** Components in the unit box. A mean is a point followed by the signal; the covariance is of both, row by row. */
const component = z.object({ weight: z.number(), mean: numbers, covariance: z.array(numbers) });
const box = z.array(z.object({ name: z.string(), low: z.number(), high: z.number() })).min(1);
/** The component that a group was drawn from, and the group's mean reward. */
const earned = z.array(z.tuple([z.number().int(), z.number()]));

/** Data of the event `mixture-fitted`. */
const fittedSchema = z.object({
  /** Groups observed so far. */
  groups: z.number(),
  box,
  components: z.array(component).min(1),
  /** Rewards of groups since the previous fit, by components of that fit. */
  earned,
});
/** Data of the event `knowledge-measured`. */
const measuredSchema = z.object({
  groups: z.number(),
  box,
  /** Names of the points, the task of each, and the share of its rollouts that succeeded; null: none was scored. */
  points: z.array(z.string()),
  tasks: z.array(z.string()),
  rates: z.array(z.number().nullable()),
});
const knowledgeSchema = measuredSchema.omit({ box: true });
/** A line of the file that `gradus runs export RUN --to curriculum` writes. */
export const pastSchema = z.object({
  run: z.string(),
  box,
  mixtures: z.array(
    z.object({
      groups: z.number(),
      components: z.array(component).min(1),
      /** Until the next fit, as far as is known. */
      earned,
    }),
  ),
  knowledge: z.array(knowledgeSchema),
});

export type Box = z.output<typeof box>;
export type Fitted = z.output<typeof fittedSchema>;
export type Knowledge = z.output<typeof knowledgeSchema>;
export type PastCurriculum = z.output<typeof pastSchema>;
type PastMixture = PastCurriculum["mixtures"][number];

const fittedName = "mixture-fitted";
const measuredName = "knowledge-measured";

/** A box as recorded. */
export const boxOf = (knobs: readonly Knob[]): Box =>
  knobs.map(({ name, low, high }) => ({ name, low, high }));
export const sameBox = (one: Box, other: Box): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Events of a run. */
export const fittedEvent = (fitted: Fitted): CurriculumEvent => ({
  name: fittedName,
  message: `After ${fitted.groups} groups a mixture of ${fitted.components.length} components was fitted to the signal, which is largest ${largest(fitted)}.`,
  data: fitted,
});
export const measuredEvent = (knowledge: Knowledge, knobs: readonly Knob[]): CurriculumEvent => ({
  name: measuredName,
  message: `After ${knowledge.groups} groups ${percent(knowledge.rates)} of the rollouts of ${knowledge.points.length} fixed tasks succeed.`,
  data: { ...knowledge, box: boxOf(knobs) } satisfies JsonObject,
});

const percent = (rates: readonly (number | null)[]): string => {
  const known = rates.filter((rate) => rate !== null);
  return known.length === 0
    ? "none"
    : `${Math.round((100 * known.reduce((sum, rate) => sum + rate, 0)) / known.length)} %`;
};

function largest({ components, box: knobs }: Fitted): string {
  const best = components.reduce((most, one) => (one.mean.at(-1)! > most.mean.at(-1)! ? one : most));
  const place = knobs.map(
    ({ name, low, high }, i) =>
      `${name} ${Number((low + Math.min(1, Math.max(0, best.mean[i]!)) * (high - low)).toFixed(1))}`,
  );
  return `(${Number(best.mean.at(-1)!.toFixed(3))}) around ${place.join(", ")}`;
}

/** The curriculum that a run's events record, in their order; where a run had several curricula of points, the last. */
export function pastCurriculumOf(
  run: string,
  events: readonly { readonly name: string; readonly data?: unknown }[],
): PastCurriculum {
  let past: PastCurriculum = { run, box: [], mixtures: [], knowledge: [] };
  const of = (knobs: Box, groups: number, before: { readonly groups: number } | undefined): void => {
    if (!sameBox(past.box, knobs) || (before !== undefined && groups <= before.groups))
      past = { run, box: knobs, mixtures: [], knowledge: [] };
  };
  for (const { name, data } of events) {
    if (name === fittedName) {
      const { box: knobs, groups, components, earned: since } = fittedSchema.parse(data);
      of(knobs, groups, past.mixtures.at(-1));
      const before = past.mixtures.at(-1);
      if (before !== undefined) before.earned = since;
      past.mixtures.push({ groups, components, earned: [] });
    } else if (name === measuredName) {
      const { box: knobs, ...knowledge } = measuredSchema.parse(data);
      of(knobs, knowledge.groups, past.knowledge.at(-1));
      past.knowledge.push(knowledge);
    }
  }
  return past;
}

/** A past curriculum, and its line in the file. */
export interface ReadCurriculum {
  readonly past: PastCurriculum;
  readonly file: string;
  readonly line: number;
}

const howToMake = "Write the file with `gradus runs export RUN --to curriculum --out FILE`, one run a line.";

/** Reads past curricula, one a line. @throws UserError with file and line */
export function readPastCurricula(files: readonly string[]): ReadCurriculum[] {
  return files.flatMap((file) => {
    let text: string;
    try {
      text = readText(file).replace(/^\uFEFF/, "");
    } catch (error) {
      throw new UserError(`the past curricula can't be read: ${readFailure(error)}`, {
        file,
        code: "past-curricula",
        cause: error,
        action: howToMake,
      });
    }
    const found = text
      .split("\n")
      .flatMap((content, line) =>
        content.trim() === "" ? [] : [{ past: parsed(content, file, line), file, line }],
      );
    if (found.length > 0) return found;
    throw new UserError("there is no past curriculum in the file", {
      file,
      code: "past-curricula",
      action: howToMake,
    });
  });
}

function parsed(content: string, file: string, line: number): PastCurriculum {
  try {
    const past = pastSchema.parse(JSON.parse(content));
    const wrong = past.mixtures.find((mixture) => !fits(mixture, past.box.length + 1));
    if (wrong !== undefined)
      throw new Error(`a mixture is not of ${past.box.length} dimensions and the signal, as its box says`);
    return past;
  } catch (error) {
    const reason =
      error instanceof z.ZodError
        ? `${error.issues[0]?.path.join(".") ?? ""}: ${error.issues[0]?.message ?? ""}`
        : messageOf(error);
    throw new UserError(`not a past curriculum: ${reason}`, {
      file,
      line,
      code: "past-curricula",
      cause: error,
      action: howToMake,
    });
  }
}

const fits = ({ components }: PastMixture, size: number): boolean =>
  components.every(
    ({ mean, covariance }) =>
      mean.length === size && covariance.length === size && covariance.every((row) => row.length === size),
  );
