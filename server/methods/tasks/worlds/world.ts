/** What the text worlds share: a world whose state is a JSON value becomes an environment that can be saved and restored. */
import { tagged } from "../../../lib/texts/tagged.ts";
import { z } from "zod";
import type { Json } from "../../../../shared/lib/json.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import { param } from "../../../core/declaration.ts";
import {
  noMessages,
  says,
  type Environment,
  type Environments,
  type Observation,
  type Stepped,
} from "../../../core/slots/environment.ts";
import { splitOf } from "../../../core/split.ts";
import type { Task } from "../../../core/task.ts";

/** What came of one turn. */
export interface Turned<State> {
  readonly state: State;
  /** What is said to the policy; not read where the episode has ended. */
  readonly text: string;
  /** It has reached what the task asks. */
  readonly won?: boolean;
  /** Reward of this turn, where it is more than having won. */
  readonly reward?: number;
  readonly done?: boolean;
  /** The turn was no action of this world. */
  readonly invalid?: boolean;
  /** Sub-goals of the task that have been reached so far, in their order. */
  readonly subgoals?: number;
  /** Numbers that are recorded with the rollout. */
  readonly components?: Readonly<Record<string, number>>;
}

/** A world: `Place` is what a task says of it and never changes, `State` is how an episode has gone so far. */
export interface World<Place, State extends Json> {
  readonly place: z.ZodType<Place>;
  readonly state: z.ZodType<State>;
  begin(place: Place, random: Random): State;
  /** What may be written now; absent: anything. */
  actions?(place: Place, state: State): readonly string[];
  turn(place: Place, state: State, text: string): Turned<State>;
  /** Turns that an episode may have where the config does not say. */
  limit(place: Place): number;
}

/** Parameters that every world has. */
export const worldParams = {
  limit: param(
    z.number().int().min(1).optional(),
    "Turns that an episode may have; default: by the task's difficulty.",
  ),
  pace: param(
    z.number().min(0).max(1).default(0),
    "Share of the reward that a success loses from the first possible turn to the last; 0.9 in MiniGrid.",
  ),
  invalid: param(z.number().default(0), "Reward of a turn that is no action of the world."),
};

export const bonusParam = (of: string): z.ZodDefault<z.ZodNumber> =>
  param(z.number().min(0).default(0), `λ: reward of ${of}, once each. At held-out tasks it is off.`);

/** How an episode is rewarded. */
export interface Rewarding {
  readonly limit?: number | undefined;
  readonly pace: number;
  readonly invalid: number;
  readonly bonus?: number;
}

/** Reads a value that came from outside: a task's data, a saved state. */
function readAs<Value>(schema: z.ZodType<Value>, value: Json, what: string): Value {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const first = error.issues[0];
  throw new Error(`${what}: ${first?.path.join(".") ?? ""} ${first?.message ?? "it has another form"}`);
}

class Episode<Place, State extends Json> implements Environment {
  private place: Place | undefined;
  private now: State | undefined;
  private turns = 0;
  private subgoals = 0;
  private invalid = 0;
  private held = false;

  constructor(
    private readonly world: World<Place, State>,
    private readonly rewarding: Rewarding,
  ) {}

  async reset(task: Task, seed: number): Promise<Observation> {
    const place = this.enter(task);
    this.now = this.world.begin(place, randomStream(seed, "episode", task.id));
    [this.turns, this.subgoals, this.invalid] = [0, 0, 0];
    return { messages: noMessages, ...this.admissible(place, this.now) };
  }

  async step(text: string): Promise<Stepped> {
    const { place, now, world, rewarding } = this;
    if (place === undefined || now === undefined) throw new Error("a turn before the episode began");
    const turned = world.turn(place, now, text);
    this.now = turned.state;
    this.turns += 1;
    const limit = rewarding.limit ?? world.limit(place);
    const done = turned.won === true || turned.done === true || this.turns >= limit;
    const reward = this.rewardOf(turned, limit);
    const { turns, invalid, subgoals } = this;
    return {
      ...says(turned.text),
      ...(done ? {} : this.admissible(place, turned.state)),
      ...(reward !== 0 && { reward }),
      done,
      components: {
        turns,
        invalid,
        ...(turned.subgoals !== undefined && { subgoals }),
        ...turned.components,
      },
    };
  }

  async state(): Promise<Json> {
    const { turns, subgoals, invalid, now } = this;
    return { turns, subgoals, invalid, now: now ?? null };
  }

  async restore(task: Task, _seed: number, state: Json): Promise<void> {
    this.enter(task);
    const saved = readAs(this.saved, state, `the saved state of ${task.id}`);
    [this.turns, this.subgoals, this.invalid] = [saved.turns, saved.subgoals, saved.invalid];
    this.now = saved.now;
  }

  async close(): Promise<void> {
    this.now = undefined;
  }

  private get saved() {
    const count = z.number().int().min(0);
    return z.object({ turns: count, subgoals: count, invalid: count, now: this.world.state });
  }

  private enter(task: Task): Place {
    this.held = splitOf(task.id) === "evaluate";
    return (this.place = readAs(this.world.place, task.data, `the data of task ${task.id}`));
  }

  private admissible(place: Place, state: State): { readonly actions?: readonly string[] } {
    const actions = this.world.actions?.(place, state);
    return actions === undefined ? {} : { actions };
  }

  private rewardOf(turned: Turned<State>, limit: number): number {
    const { pace, invalid, bonus = 0 } = this.rewarding;
    const reached = Math.max(this.subgoals, turned.subgoals ?? 0);
    const shaped = this.held ? 0 : bonus * (reached - this.subgoals);
    this.subgoals = reached;
    if (turned.invalid === true) this.invalid += 1;
    const won = turned.won === true ? 1 - (pace * this.turns) / limit : 0;
    return won + (turned.reward ?? 0) + (turned.invalid === true ? invalid : 0) + shaped;
  }
}

/** Any number of episodes of a world at once: they share nothing. */
export const played = <Place, State extends Json>(
  world: World<Place, State>,
  rewarding: Rewarding,
): Environments => ({ open: async () => new Episode(world, rewarding) });

/**
 * What a turn asks for: without the thoughts before `</think>`, and of what is tagged `<action>` or `<answer>` the last.
 * Lower case, without blanks and a full stop around it.
 */
export function actionText(text: string): string {
  const said = text.split("</think>").at(-1) ?? "";
  const last = tagged(said, ["action", "answer"]).at(-1);
  return tidy(last ?? said);
}

function tidy(text: string): string {
  const said = text.trim().toLowerCase();
  let end = said.length;
  while (end > 0 && ".!?".includes(said[end - 1]!)) end--;
  return said.slice(0, end);
}

/** Actions that a turn holds, separated by lines or commas: the first so many. */
export const actionsIn = (text: string, most: number): readonly string[] =>
  actionText(text)
    .split(/[\n,;]+/)
    .map(tidy)
    .filter((action) => action !== "")
    .slice(0, most);
