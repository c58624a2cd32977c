/** A stage that passes over from the one before it: the weights of both stages' reward terms, moving over its steps. */
import type { Scheduled } from "../../core/schedule.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import type { Crossfade, StageConfig } from "../../core/config/stageConfig.ts";

/** The stage that one passes over from: the rl stage before it that has a turn of its own. */
export const stageBefore = (stages: readonly StageConfig[], index: number): StageConfig | undefined =>
  stages.slice(0, Math.max(0, index)).findLast(({ kind, part }) => kind === "rl" && !part);

/** Stages with the rewards that they pass over from. */
export const crossfaded = (stages: readonly StageConfig[]): StageConfig[] =>
  stages.map((stage, index) => {
    if (stage.crossfade?.rewards !== true) return stage;
    const before = stageBefore(stages, index);
    if (before === undefined) return stage;
    const terms = fadedTerms(before.body.reward.terms, stage.body.reward.terms, stage.crossfade);
    const reward = { ...stage.body.reward, terms };
    const success = {
      ...reward.success,
      terms: reward.success.terms ?? stage.body.reward.terms.map(({ name }) => name),
    };
    return { ...stage, body: { ...stage.body, reward: { ...reward, success } } };
  });

/** What makes two terms one: the method, its parameters, the tasks it is for. */
const identity = ({ term, tasks }: RewardTermConfig): string =>
  JSON.stringify([term.declaration.name, term.params, term.folder, tasks ?? null]);

/** A term's weight as the earlier stage leaves it. */
const left = (weight: Scheduled): number => (typeof weight === "number" ? weight : weight.to);

/** Own terms rise from 0, or from what they weighed before; earlier ones fall to 0 under a name that is free. */
function fadedTerms(
  before: readonly RewardTermConfig[],
  own: readonly RewardTermConfig[],
  fade: Crossfade,
): RewardTermConfig[] {
  const earlier = (term: RewardTermConfig): RewardTermConfig | undefined =>
    before.find((other) => identity(other) === identity(term));
  const names = new Set(own.map(({ name }) => name));
  const rising = own.map((term): RewardTermConfig => {
    const known = earlier(term);
    return { ...term, weight: passing(known === undefined ? 0 : left(known.weight), term.weight, fade) };
  });
  const falling = before
    .filter((term) => !own.some((other) => identity(other) === identity(term)))
    .map((term): RewardTermConfig => {
      const name = names.has(term.name) ? `${term.name} (before)` : term.name;
      return { ...term, name, weight: passing(left(term.weight), 0, fade) };
    });
  return [...rising, ...falling];
}

/** A weight of the stage's own that moves already stays as it is. */
const passing = (from: number, to: Scheduled, { over, shape }: Crossfade): Scheduled =>
  typeof to !== "number" || from === to ? to : { schedule: shape, from, to, over, start: 0, clock: "stage" };
