/** What an editor asks about a config's rewards before a run trains on them. */
import { z } from "zod";
import { expectation } from "../rollouts/expectation.ts";
import { request } from "./descriptor.ts";
import { edited, run } from "./parameters.ts";

/** Something wrong with a reward, or with the data that it scores, at a line of a file. */
export interface RewardFinding {
  /** Absolute. */
  readonly file: string;
  /** Of a notebook: the cell that the line is in, counted from 1 with the cells of text. */
  readonly cell?: number;
  /** From 0. */
  readonly line: number;
  /** `hint`: no recorded answer uses the hole. */
  readonly severity: "error" | "warning" | "info" | "hint";
  /**
   * `load`: the function cannot be called. `gold`: a reference answer does not succeed. `probe`: an answer earns what it
   * should not, or makes the function fail. `run`: it failed on rollouts of the config's last run.
   */
  readonly check: "load" | "gold" | "probe" | "run";
  readonly term?: string;
  readonly message: string;
}

/** What the checks of a config's reward find; null: a later request for the same config took this one's place. */
export const rewardCheck = request<{
  readonly findings: readonly RewardFinding[] | null;
  /** What was not checked, and why. */
  readonly notes: readonly string[];
}>()(
  "gradus/reward/check",
  edited.extend({
    /** Only what the last run recorded: nothing of the workspace runs. So it is where `trusted` is false. */
    recorded: z.boolean().default(false),
    /** The Python of rewards that name none. */
    python: z.string().optional(),
  }),
);

/** How many reference answers a function of one's own rewards. */
export interface GoldCount {
  readonly term: string;
  /** Absolute, and the function in it. */
  readonly file: string;
  readonly name: string;
  /** Reference answers that succeed; of a term that decides nothing, those that it rewards. */
  readonly rewarded: number;
  readonly of: number;
}

/** As `gradus/reward/check`, while somebody types: the reference answers alone, of functions that answer at once. */
export const rewardGold = request<{ readonly counts: readonly GoldCount[] | null }>()(
  "gradus/reward/gold",
  edited.extend({ python: z.string().optional().describe("The Python of rewards that name none.") }),
);

/** A way to be rewarded without the answer. */
export interface RewardHole {
  /** One sentence. */
  readonly message: string;
  /** Share of the held-out tasks on which it succeeds. */
  readonly share: number;
  /** One such answer. */
  readonly response: string;
}

/**
 * Trains a tiny policy to please a config's reward without the reference answers. What it finds is written next to the
 * reward as failing tests. Cancelling the request ends it, and nothing is written.
 */
export const rewardAttack = request<{
  readonly holes: readonly RewardHole[];
  /** Answers that were scored. */
  readonly answers: number;
  /** Of these, the answers that made the reward fail. */
  readonly failed?: number;
  /** What the first of them says. */
  readonly failure?: string;
  /** Of those that do not count as a success, the one with the highest reward above 0. */
  readonly wrong?: { readonly response: string; readonly reward: number };
  readonly seconds: number;
  /** Where the tests are; null where nothing was found. */
  readonly file: string | null;
}>()(
  "gradus/reward/attack",
  edited.extend({
    seconds: z.number().positive().max(600).default(60),
    /** The Python of rewards that name none. */
    python: z.string().optional(),
  }),
);

/** Writes a recorded rollout down as a test of a config's reward, in a file next to it. */
export const rewardPin = request<{
  readonly file: string;
  /** From 0. */
  readonly line: number;
  /** False where the same test was there. */
  readonly added: boolean;
}>()(
  "gradus/reward/pin",
  edited.extend({
    ...run.shape,
    step: z.number().int(),
    group: z.string(),
    index: z.number().int(),
    /** `beats` is the response of another rollout of the group. */
    expect: expectation,
  }),
);

export interface RewardTestOutcome {
  readonly file: string;
  /** From 0. */
  readonly line: number;
  /** null: it passed. */
  readonly failure: string | null;
  readonly response: string;
}

/** Runs tests of a config's reward; of files without a config, each by the nearest config with its terms. */
export const rewardTest = request<{
  readonly outcomes: readonly RewardTestOutcome[];
  /** Files that could not be run, and why. */
  readonly broken: readonly { readonly file: string; readonly message: string }[];
}>()(
  "gradus/reward/test",
  z.object({
    /** The config, as a path or a `file:` URI: the tests that belong to it. */
    uri: z.string().optional(),
    /** Absolute paths of files of tests, in the place of a config's. */
    files: z.array(z.string()).optional(),
    /** Texts of reward files that are open in an editor, by their paths. */
    unsaved: z.record(z.string(), z.string()).optional(),
    /** Tests run functions of the workspace: without trust nothing is run. */
    trusted: z.boolean().default(false),
    /** The Python of rewards that name none. */
    python: z.string().optional(),
  }),
);
