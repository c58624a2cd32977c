/** Value heads of the policy: who reads them, and who trains them. */
import { z } from "zod";
import { objectiveNeeds, plannedLearners } from "../../algorithm/loss/modelsRead.ts";
import { headOf } from "../../core/channelNames.ts";
import type { ValueHead } from "../../core/blocks/models.ts";
import type { Channel } from "../../core/policy.ts";
import { referenceOf } from "../../core/references.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { AdvantageConfig, StageBody } from "../../core/config/resolved.ts";
import { isSchema, unwrapped } from "../../config/check/values.ts";

/** The heads that a baseline reads: what is at those of its parameters that name heads. */
export const headsRead = ({ baseline: { declaration, params } }: AdvantageConfig): string[] =>
  Object.entries(declaration.params.shape).flatMap(([key, schema]) => {
    const value = params[key];
    if (!isSchema(schema) || value === undefined || !namesHeads(unwrapped(schema))) return [];
    return Array.isArray(value) ? value.map(String) : [String(value)];
  });

const namesHeads = (schema: z.ZodType): boolean =>
  referenceOf(schema)?.to === "head" ||
  (schema instanceof z.ZodArray && isSchema(schema.element) && namesHeads(schema.element));

/** Whose heads these are: the policy's by default. */
export const ownerOf = ({ baseline: { params } }: AdvantageConfig): string =>
  String(params["model"] ?? "policy");

/** The heads among some channels. */
const headsAmong = (channels: readonly Channel[]): string[] => [
  ...new Set(channels.flatMap((channel) => headOf(channel)?.name ?? [])),
];

/** What some channels lack of a model's heads, in words, and the heads it would have with them. */
export function lackOfHeads(
  channels: readonly Channel[],
  own: readonly ValueHead[],
):
  | { readonly missing: readonly string[]; readonly narrow: readonly string[]; readonly value: string }
  | undefined {
  const words = new Set(
    channels
      .flatMap((channel) => headOf(channel) ?? [])
      .filter((one) => one.words)
      .map(({ name }) => name),
  );
  const missing = headsAmong(channels).filter((head) => own.every(({ name }) => name !== head));
  const narrow = own.filter((head) => words.has(head.name) && head.words !== true).map(({ name }) => name);
  if (missing.length + narrow.length === 0) return undefined;
  const written = [...own, ...missing.map((name) => ({ name, words: false, detach: false }))].map((head) => {
    const wide = head.words === true || words.has(head.name);
    const more = [...(wide ? ["words: true"] : []), ...(head.detach ? ["detach: true"] : [])];
    return more.length === 0 ? head.name : `{ name: ${[head.name, ...more].join(", ")} }`;
  });
  return { missing, narrow, value: `[${written.join(", ")}]` };
}

/** The heads of a model that a stage's losses and learners work on. */
export const headsTrained = (body: StageBody, model = "policy"): string[] => [
  ...(model === "policy" ? headsAmong(objectiveNeeds(body).channels) : []),
  ...plannedLearners(body).flatMap((one) => (one.model === model ? headsAmong(one.objective.channels) : [])),
];

/** The heads that a model of the config has; undefined: there is no such language model. */
export const headsOf = (config: RunConfig, model: string): readonly string[] | undefined =>
  valueHeadsOf(config, model)?.map(({ name }) => name);
/** The same with what each is like. */
export function valueHeadsOf(config: RunConfig, model: string): readonly ValueHead[] | undefined {
  if (model === "policy") return config.model.heads ?? [];
  const found = config.models.find(({ name }) => name === model);
  if (found?.kind === "copy") return valueHeadsOf(config, found.of);
  return found?.kind === "opened" ? (found.model.heads ?? []) : undefined;
}
