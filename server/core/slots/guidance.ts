/** What guidance is made of. */
import type { Json } from "../../../shared/lib/json.ts";
import type { HelpCurve, StepMixture, HelpRecord } from "../help.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../task.ts";
import type { Arm, Clock, Finish, Model, Stateful } from "../basics.ts";
import type { Group, RolloutSource } from "../rollouts.ts";
import type { Models, Sample, Tokenizer } from "../policy.ts";

/** Per member of a group: whether its plain rollout failed, succeeded, or could not be scored. */
export type Outcomes = Uint8Array;

/** A group as a trigger sees it. */
interface Attempted {
  readonly task: Task;
  /** Members of the group. */
  readonly size: number;
  /** See `outcome` of the algorithm; absent before anything was written. */
  readonly success?: Outcomes;
}

/** When: which members of a group get help. */
export interface GuidanceTrigger {
  /** before: it knows nothing of the group yet; after: its plain rollouts are scored. */
  readonly looks: "before" | "after";
  /** Places in the group, ascending. */
  members(group: Attempted, at: { readonly clock: Clock; readonly random: Random }): readonly number[];
}

/** What so much help has led to in one group. */
export interface HelpedRound {
  /** Of the help, in [0, 1]; 0: plain rollouts. */
  readonly share: number;
  readonly rollouts: number;
  readonly successes: number;
}

export interface AmountQuestion {
  readonly task: Task;
  /** Which of the group's helped rollouts it is for, from 0, and how many there are. */
  readonly member: number;
  readonly members: number;
  /** Rounds of help that this group has had. */
  readonly round: number;
  /** Plain rollouts of the group first, where there are any, then each round. */
  readonly earlier: readonly HelpedRound[];
  readonly clock: Clock;
  /** Of the stage. */
  readonly steps: number;
  readonly random: Random;
  /** The same for all rollouts of the group. */
  readonly shared: Random;
}

/** How much, and in how many rounds. */
export interface GuidanceAmount extends Partial<Stateful> {
  /** Most rounds of one group. */
  readonly rounds: number;
  /** retries: each round generates all members again, in the place of the one before; parts: members are divided over the rounds. */
  readonly spread: "retries" | "parts";
  /** Share of the help in [0, 1]; undefined: this group gets no (more) help. */
  share(
    question: AmountQuestion,
  ): { readonly share: number; readonly curve?: HelpCurve | undefined } | undefined;
}

type GeneratedTokens = Pick<Sample, "tokens" | "logp_old" | "logp_sampled" | "entropy" | "versions">;

/** What is at a response's beginning when the policy goes on with it. */
export type Lead =
  /** Put there. `logp`: its log-probs under whoever wrote it, at temperature 1, where they are known. */
  | { readonly kind: "given"; readonly tokens: Int32Array; readonly logp?: Float64Array }
  /** The policy's own, of the same step. */
  | { readonly kind: "own"; readonly sample: GeneratedTokens }
  /** What was said to the policy in the middle of an episode: it never trains. */
  | { readonly kind: "observed"; readonly tokens: Int32Array };

/** A plain rollout that a source goes on from. */
export interface Attempt {
  /** Without its end token. */
  readonly sample: GeneratedTokens;
  readonly response: string;
  /** The combined reward; NaN where there is none. */
  readonly reward: number;
  /** Share of its group's rollouts that failed. */
  readonly error_rate: number;
}

export interface HelpRequest {
  readonly task: Task;
  /** How much of the help, in [0, 1]. */
  readonly share: number;
  /** Which of the group's helped rollouts it is for, from 0. */
  readonly member: number;
  /** Where the source reads one. */
  readonly attempt?: Attempt;
  readonly random: Random;
  /** Names random streams of whatever is written for it. */
  readonly key: readonly (string | number)[];
}

/** What one rollout is helped with. */
export interface Help {
  /** Takes the place of the task's prompt. */
  readonly prompt?: string;
  readonly lead?: readonly Lead[];
  /** Somebody wrote it to its end: the policy writes nothing. */
  readonly whole?: boolean;
  readonly from: Exclude<RolloutSource, "self" | "replay">;
  /** Whose words they are: a model's name, a field's, a file's. */
  readonly by?: string;
}

/** Why a request has no help: a few words that end the sentence "nothing to give, since …". */
export interface Lack {
  readonly lack: string;
  /** The config wants it so: nothing is amiss. */
  readonly wanted?: boolean;
}

/** Something a model is asked to write. */
export interface Writing {
  readonly model: Model;
  /** The prompt as text; it is asked as tasks are, chat template included. */
  readonly prompt: string;
  /** How the response begins, as a task's does. */
  readonly begin?: string;
  readonly lead?: readonly Lead[];
  /** Longest answer; default: that of rollouts. */
  readonly max_tokens?: number;
  readonly key: readonly (string | number)[];
}
export interface WrittenText {
  /** Without the lead and the end token. */
  readonly text: string;
  /** Tokens of the policy's vocabulary, end token included where it ended by one. */
  readonly tokens: Int32Array;
  /** Log-probs under the model that wrote, where it has the policy's tokens. */
  readonly logp?: Float64Array;
  /** Where the policy itself wrote. */
  readonly sample?: GeneratedTokens;
}

/** A text whose likelihood is asked: `tokens` after a prompt and `before`. */
export interface Likelihood {
  readonly prompt: string;
  readonly begin?: string;
  readonly before: Int32Array;
  readonly tokens: Int32Array;
}

/** What sources may do. */
export interface HelpContext {
  readonly models: Models;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  /** `rollout.max_tokens`. */
  readonly max_tokens: number;
  /** Plain rollouts that were generated in addition to those that are to be helped; 0 where none was. */
  readonly plain: number;
  /** One text per ask, in order. */
  write(asks: readonly Writing[]): Promise<WrittenText[]>;
  /** Mean over the tokens of each, under the policy: of their log-probs (default), or of their probabilities. */
  likelihood(rows: readonly Likelihood[], of?: "logp" | "probability"): Promise<Float64Array>;
}

/** What, and whose. */
export interface GuidanceSource extends Partial<Stateful> {
  /** Whether it goes on from a plain rollout. */
  readonly reads: "task" | "attempt";
  /** Models that it asks. */
  readonly models?: readonly Model[];
  /** Reads files, once, before the first step. @returns what of them helps no task, in words. @throws UserError naming the file and line */
  prepare?(): readonly string[];
  /** What became of the rollouts that it helped, each time that a step's groups were. */
  learned?(outcome: { readonly rollouts: number; readonly successes: number }): void;
  /** One answer per request, in order. */
  help(requests: readonly HelpRequest[], context: HelpContext): Promise<readonly (Help | Lack)[]>;
}

/** A token of a row, as ratios see it. Log-probs, NaN where they are unknown. */
export interface GuidedToken {
  /** Put there, and not written by the policy in this step. */
  readonly given: boolean;
  /** Of the attempt that the row goes on from. */
  readonly attempt: boolean;
  /** Under whoever wrote it, in the context it was written in. */
  readonly behaviour: number;
  /** Under the policy before the step's updates, in the context that trains. */
  readonly proximal: number;
  /** Under the policy as it is. */
  readonly now: number;
  /** Of the row's group before it was helped. */
  readonly error_rate: number;
  /** The row was helped. */
  readonly helped: boolean;
  /** What the rollouts of its step were. */
  readonly step: StepMixture;
  /** Tokens of the attempt. */
  readonly attempt_tokens: number;
}

/** The loss of one token in the place of the objective's, and its derivative by log π, both before the factor. */
export type TokenLoss = (token: {
  readonly now: number;
  readonly anchor: number;
  readonly advantage: number;
}) => {
  readonly loss: number;
  readonly slope: number;
};

/** What the ratio of guided tokens is. */
export interface GuidanceRatio {
  /** Whether it reads `proximal`. */
  readonly proximal: "always" | "given" | "never";
  /** It reads `step`. */
  readonly step?: boolean;
  /** Plain rows count against it too, and not against the objective's own. */
  readonly plain?: boolean;
  /** Log of what the ratio is against; NaN: unknown, which is an error where the token trains. */
  denominator(token: GuidedToken): number;
  /** Stands in the place of the objective on these tokens. */
  readonly instead?: { readonly on: "given" | "row"; readonly loss: TokenLoss };
}

/** An episode up to the end of something that was said to the policy: it goes on with the next attempt. */
export interface EpisodeState {
  readonly turns: readonly {
    readonly role: string;
    readonly text: string;
    readonly tokens: Int32Array;
    readonly finish?: Finish;
    readonly reward?: number;
    readonly name?: string;
    /** Of a reply: where the environment stood after it, where one answers. */
    readonly state?: Json;
  }[];
  /** Attempts that the whole episode may have, those of the turns included. */
  readonly tries: number;
}

/** Where an episode begins. `state`: in its middle, where `rollout.shape` goes on. */
export interface StartState {
  readonly task: Task;
  readonly arm: Arm;
  readonly lead?: readonly Lead[];
  readonly prompt?: string;
  readonly whole?: boolean;
  readonly state?: EpisodeState;
  readonly help?: Omit<HelpRecord, "round" | "given" | "text">;
}

export interface StartContext extends Omit<HelpContext, "plain"> {
  readonly random: Random;
}

/** What a start state learns from. */
export interface Finished extends Group {
  /** Its rollouts: tokens of the response that were written, and whether it succeeded. */
  readonly rollouts: readonly {
    readonly tokens: Int32Array;
    readonly entropy: Float64Array;
    readonly success: boolean;
    /** It began after something that was prefilled. */
    readonly prefilled: boolean;
    /** All of it up to its last reply, where it had several attempts. */
    readonly episode?: EpisodeState;
  }[];
}

/** The start-state slot: where the episodes of a step begin. */
export interface Start extends Partial<Stateful> {
  readonly models?: readonly Model[];
  /** All rollouts of a group begin alike: one answer per task drawn, in order. */
  begin(
    drawn: readonly { readonly task: Task; readonly arm: Arm; readonly key: readonly (string | number)[] }[],
    context: StartContext,
  ): Promise<readonly StartState[]>;
  /** Once a step. */
  observe?(groups: readonly Finished[], clock: Clock): void;
}
