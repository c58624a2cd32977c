/** What the fields of a rollout may hold: the format's own words. */

export const finishes = ["stop", "length", "error"] as const;
export type Finish = (typeof finishes)[number];

export const rolloutSources = ["self", "guided", "teacher", "dataset", "replay"] as const;
export type RolloutSource = (typeof rolloutSources)[number];

export type RolloutUse = "train" | "estimate" | "evaluate";

/** Who wrote a token. A token's number in the column `origin` is its word's place in this list. */
export const origins = ["written", "given", "observed"] as const;
export type Origin = (typeof origins)[number];
/** Of the tokens that somebody wrote as part of the response. */
export type ResponseOrigin = Exclude<Origin, "observed">;

/** The numbers of those words. */
export const origin = { written: 0, given: 1, observed: 2 } as const satisfies Readonly<
  Record<Origin, number>
>;
