/** What follows from `rollout.shape`, for rules and the memory estimate. */
import { perObject } from "../../lib/perObject.ts";
import { keyedRandom } from "./keyedRandom.ts";
import type { StageBody } from "./resolved.ts";
import type { EpisodeShape } from "../slots/episodes.ts";

type ShapeBlock = Pick<StageBody["rollout"], "shape" | "max_tokens" | "group" | "prefix">;

const shapeOf = perObject(({ shape, max_tokens, group }: ShapeBlock): EpisodeShape =>
  shape.declaration.create(shape.params, {
    folder: shape.folder,
    random: keyedRandom("shape"),
    max_tokens,
    group,
  }),
);

/** Most attempts of an episode; 1: rollouts are single responses. */
export const attemptsOf = (rollout: ShapeBlock): number => shapeOf(rollout).most;
/** Whether the task's environment and the run's tools answer, not the shape. */
export const playsEnvironment = (rollout: ShapeBlock): boolean => shapeOf(rollout).plays !== undefined;
/** Whether each turn is drawn among the actions that the environment lists. */
export const choosesActions = (rollout: ShapeBlock): boolean => shapeOf(rollout).plays?.actions === "choose";
/** Whether a program of the user's plays, by calling the policy as a server. */
export const byHarness = ({ use }: Pick<StageBody["rollout"], "use">): boolean => use === "harness";
/** Whether a rollout may have several turns. */
export const hasAttempts = (rollout: ShapeBlock): boolean =>
  attemptsOf(rollout) > 1 || playsEnvironment(rollout);

/**
 * Most tokens after the first prompt; what is said in between counts a token a character. What an environment and tools
 * say is not known and not counted.
 */
export function episodeTokens(rollout: ShapeBlock): number {
  const shape = shapeOf(rollout);
  const { most, budget } = shape;
  const own = rollout.max_tokens * (budget === "attempt" ? most : 1);
  const said = Array.from(
    { length: most - 1 },
    (_, i) =>
      (shape.reply({ number: i + 1, tries: most, right: false }) ?? "").length + rollout.prefix.length,
  );
  return own + said.reduce((sum, length) => sum + length, 0);
}

/** The shape's own first question may be longer than the task's prompt by so many characters. */
export const askedBeyond = (rollout: ShapeBlock): number => {
  const { ask, most } = shapeOf(rollout);
  return ask === undefined ? 0 : ask("", most).length;
};

/** The same, within so many: an episode whose environment says much is as long as may be. */
export const longestEpisode = (rollout: ShapeBlock, most: number): number =>
  playsEnvironment(rollout) ? most : Math.min(most, episodeTokens(rollout));
