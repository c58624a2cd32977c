/** What a round of making tasks works with. */
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { Group } from "../../core/rollouts.ts";
import type {
  AnswerSource,
  Author,
  Complete,
  Draft,
  Embed,
  Gate,
  Transform,
} from "../../core/slots/generation.ts";

export interface Recipe {
  readonly transform: Transform;
  readonly author: Author;
  readonly answer: AnswerSource;
  readonly gates: readonly Gate[];
  /** Children a round asks for. */
  readonly parents: number;
  /** Texts that a model writes for each of them; each is a child. */
  readonly children: number;
  /** What lineages call the choices. */
  readonly names: { readonly transform: string; readonly author: string; readonly answer: string };
}

export interface RoundContext {
  readonly random: Random;
  /** Number of the step in the log. */
  readonly step: number;
  /** Whether a prompt leaves the policy room to answer. */
  fits(task: Task): boolean;
  /** Rolls tasks out; one group each, in their order. */
  attempt(tasks: readonly Task[]): Promise<readonly Group[]>;
  /** Scores each task's written solution as a response, a group of one each; undefined: it has none. */
  grade(tasks: readonly Task[]): Promise<readonly (Group | undefined)[]>;
  /** The author's pen, where it writes. */
  readonly complete: Complete;
  /** The same pen for the children alone; default: `complete`. */
  readonly write?: Complete;
  /** The policy's pen. */
  readonly policy: Complete;
  /** Texts as vectors, by the models of the run. */
  readonly embed: Embed;
}

/** A child before the gates. */
export interface Child {
  readonly draft: Draft;
  readonly parents: readonly Task[];
  /** Which of the author's texts it is of. */
  readonly text?: number;
}

/** The author's texts → the task that each is; null: evaluation's. A text that is missing is no task. */
export type TextTasks = Map<number, string | null>;

/** Counts a reason; a task that is named is not tried again. */
export type Refuse = (reason: string, task?: Task) => void;
