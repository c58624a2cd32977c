/**
 * What making new tasks is put together of: selector × transform × author × answer × gates. A round
 * chooses parents among the tasks that were seen, has children written, gives each an answer, tries them, and keeps
 * those that pass every gate.
 */
import type { TextPattern } from "../../lib/texts/textPattern.ts";
import type { Random } from "../../lib/random.ts";
import type { Pooling } from "../states.ts";
import type { Task } from "../task.ts";
import type { Answered, Group } from "../rollouts.ts";
import type { Verdict } from "./curriculum.ts";

/** What is remembered of a task that was rolled out. */
export interface RememberedTask {
  readonly task: Task;
  /** Share of rollouts that succeeded, group after group, oldest first; the last of them only. */
  readonly rates: readonly number[];
  /** Combined reward in its last group. */
  readonly least: number;
  readonly most: number;
  readonly mean: number;
  /** Some responses of its last group, as many of each kind as the transform asks for. */
  readonly answers: readonly Answered[];
}

/** Tasks of one source and difficulty, as far as they are remembered. */
export interface Skill {
  readonly name: string;
  readonly tasks: number;
  /** Of these, tasks that the selector wants as parents. */
  readonly chosen: number;
  /** Mean success rate of their last groups. */
  readonly rate: number;
}

/** How much a task is worth as a parent; 0: not at all. Parents are drawn in proportion, without replacement. */
export interface Selector {
  weigh(seen: RememberedTask): number;
  /** What part of the parents is of a skill, before normalisation; default: as much as its tasks weigh. */
  share?(skill: Skill): number;
}

/** What an author is asked to make of a parent. */
export interface Transform {
  /** For a program: how many of its environment's difficulties above (+) or below (−) the parent. */
  readonly level: number;
  /** Parents of one child. */
  readonly parents: number;
  /** The child has its parent's answer, if the author does as it is asked. */
  readonly keeps_answer: boolean;
  /** Responses to remember of each task: so many right ones, so many wrong ones; default 0. */
  readonly answers?: number;
  /**
   * For an author that writes: the request.
   * @param feedback how often each skill succeeds, a line each, the weakest first
   */
  ask(parents: readonly Task[], feedback?: string, drawn?: ChildBrief): string;
  /** Where the task is in what the author writes: the first group; default: it is all of it. */
  readonly take?: TextPattern;
  /** Further parents are drawn by how near they are to the first; default: by what they are worth alone. */
  readonly near?: Near;
  /** Children are asked for by what their parents need, drawn together, rather than by the parents. */
  readonly concepts?: Concepts;
  /** Where the parent alone decides the child, no author is asked; null: this parent gives none. */
  make?(parent: RememberedTask, random: Random): Draft | null;
}

/** What texts are compared by: letters, or the states of a model of the run. */
export type Measure =
  | { readonly by: "letters" }
  | { readonly by: "embedding"; readonly model: string; readonly pooling: Pooling };

/** A text's vector by a model of the run, for each. */
export type Embed = (
  texts: readonly string[],
  how: Measure & { readonly by: "embedding" },
) => Promise<readonly Float32Array[]>;

/** exp(cosine / temperature) times what a parent is worth. */
export interface Near {
  readonly measure: Measure;
  readonly temperature: number;
}

/** What a task needs to be solved, in a few words each. */
export interface Concepts {
  /** Field of a task's data that names them; undefined: the author is asked, by `ask`. */
  readonly field: string | undefined;
  ask(task: Task): string;
  /** Most tokens of the author's answer. */
  readonly max_tokens: number;
  /** Most parents that the author is asked about in a round. */
  readonly most: number;
  /** Concepts of one child. */
  readonly size: number;
  /** By what concepts are drawn together. */
  readonly near: Near;
  /** How hard a child is to be, in words, of which each child is asked one; none: nothing is said of it. */
  readonly levels: readonly string[];
}

/** What a child is asked for by. */
export interface ChildBrief {
  readonly concepts: readonly string[];
  /** The kind of task that the concepts are of. */
  readonly category: string;
  readonly level: string;
}

/** A child without its source; `id`: the canonical one, where the environment knows it. */
export type Draft = Omit<Task, "id" | "source" | "pair"> & Partial<Pick<Task, "id">>;

/** Writes texts for requests: a list for each. Throws a UserError where it cannot be reached. */
export type Complete = (
  requests: readonly string[],
  how: { readonly samples: number; readonly max_tokens: number; readonly temperature: number },
) => Promise<readonly (readonly string[])[]>;

/** Who makes children. */
export type Author =
  /** The parent's environment, with its own parameters. */
  | { readonly kind: "program" }
  /** The policy as it is now, or another model of the run. */
  | {
      readonly kind: "policy";
      readonly model?: string;
      readonly max_tokens: number;
      readonly temperature: number;
    }
  /** A model elsewhere. */
  | {
      readonly kind: "endpoint";
      readonly complete: Complete;
      readonly max_tokens: number;
      readonly temperature: number;
    };

/** Where the answer of a written child comes from. */
export type AnswerSource =
  /** The parent's answer, data and solution. */
  | { readonly kind: "inherit" }
  /** The environment reads the prompt and works it out. */
  | { readonly kind: "verifier" }
  /** What most attempts say: the author's own, or another's. */
  | {
      readonly kind: "vote";
      readonly samples: number;
      readonly at_least: number;
      readonly pattern: string;
      readonly voter?: "policy" | Complete | undefined;
      /** The new task as the voter is asked it; default: its prompt. */
      readonly ask?: (prompt: string) => string;
      /** Default: the author's. */
      readonly max_tokens?: number | undefined;
      readonly temperature?: number | undefined;
    }
  /** None: a reward that needs no answer judges. */
  | { readonly kind: "none" };

/** A child at the gates. */
export interface Candidate {
  readonly task: Task;
  readonly parent: Task;
  /** The group it was tried with, where a gate asks for it. */
  readonly tried: Group | undefined;
  /** What the environment reads in its prompt; null: nothing; undefined: the environment reads no prompts. */
  readonly read: Task | null | undefined;
  /** Its written solution as a group of one, where a gate asks for it; undefined: it has none. */
  readonly gold?: Group | undefined;
  /** What this gate's judges said. */
  readonly said?: readonly string[];
}

/** Who judges candidates: the policy, or a model elsewhere. */
export type Judge = "policy" | Complete;

export interface Gate {
  /** It wants the candidate tried. */
  readonly tries: boolean;
  /** It wants the candidate's written solution scored. */
  readonly gold?: true;
  /** Who is asked what of the candidate. */
  readonly panel?: {
    readonly judges: readonly Judge[];
    readonly max_tokens: number;
    /** Softmax temperature of a verdict; default 1. */
    readonly temperature?: number;
    ask(task: Task): string;
  };
  admit(candidate: Candidate): Verdict;
}
