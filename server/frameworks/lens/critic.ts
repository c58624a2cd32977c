/** PPO's critic: weights of its own, which learn from each step's rollouts once the advantages are there. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { ConfigDraft } from "./configDraft.ts";

/** The baseline of its values. */
export const criticBaseline = (lambda: Json): JsonObject => ({ use: "critic", model: "critic", lambda });

interface Critic {
  /** What it begins from: a path, or keys of a `tiny` model. */
  readonly model: JsonObject;
  readonly optimizer: JsonObject;
  /** How far a value may move in one update. */
  readonly clip: number;
  /** The normaliser of its loss. */
  readonly each: "token" | "rollout";
  /** Rollouts of an update. */
  readonly rows: number;
  /** Rounds over the step's rollouts. */
  readonly rounds: number;
}

export function setCritic(draft: ConfigDraft, { model, optimizer, clip, each, rows, rounds }: Critic): void {
  const learner: Json = {
    use: "learner",
    model: "critic",
    rollouts: "step",
    objective: { use: "value_clipped", clip },
    each,
    rows,
    updates: rounds,
  };
  draft.set("models.critic", {
    ...model,
    value_heads: ["value"],
    trains: true,
    optimizer: { use: "adamw", ...optimizer },
  });
  draft.set("auxiliary", [learner]);
}
