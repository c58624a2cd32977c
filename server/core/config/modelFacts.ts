/**
 * What rules ask about the models and datasets that a config names. Rules know nothing of such files: whoever checks a
 * config for a person fills this in (server/analysis/modelFacts.ts), and nothing of a workspace is executed.
 */
import type { TaskConfig } from "./resolved.ts";
import type { RunConfig } from "./runConfig.ts";

/** What becomes of a turn when a chat template writes it again, with a reply after it. */
export type ChatTurnLook =
  | { readonly kind: "kept" }
  /** What it drops, or writes otherwise. */
  | { readonly kind: "dropped"; readonly text: string }
  /** It takes no such reply. */
  | { readonly kind: "refused"; readonly problem: string };

/** By who replies. */
interface ChatTurnLooks {
  readonly user: ChatTurnLook;
  readonly tool: ChatTurnLook;
}

/** What a model's chat template does over turns. */
export interface ChatLook {
  readonly plain: ChatTurnLooks;
  /** Of a turn that begins with a thought in `<think>`. */
  readonly thinking: ChatTurnLooks;
  /** It describes tools that the assistant may call. */
  readonly tools: boolean;
}

/** What is known of a model by its config, its tokenizer and the headers of its weights. */
export type ModelLook =
  | {
      readonly kind: "fit";
      /** Most tokens of a prompt and its response together. */
      readonly context: number;
      /** undefined: it has no chat template. */
      readonly chat?: ChatLook | undefined;
    }
  /** A run refuses it. */
  | {
      readonly kind: "unfit";
      /** What is wrong with it and what to do, as sentences. */
      readonly problem: string;
    };

export type MemoryLook =
  | { readonly kind: "fits" }
  /** It fits, and the prediction may be off by more than what is left. */
  | { readonly kind: "near"; readonly problem: string }
  /** A run refuses to start. */
  | { readonly kind: "over"; readonly problem: string };

/** A row of a task's data: the task by its place in the list, the row of the file from 1. */
export interface PromptPlace {
  readonly task: number;
  readonly file: string;
  readonly row: number;
}

/** Pairs of rows: how many, and the first of them. */
export interface PromptPairs {
  readonly count: number;
  readonly first: readonly (readonly [PromptPlace, PromptPlace])[];
}

/** The prompts of some tasks, compared without case, white space and final punctuation. */
export interface DatasetLook {
  readonly rows: number;
  /** Rows whose prompt an earlier row has. */
  readonly repeated: number;
  /** Of these, with the earlier row: those with another answer, and those on the other side of the held-out split. */
  readonly contradictory: PromptPairs;
  readonly leaked: PromptPairs;
}

export interface PromptLengths {
  readonly rows: number;
  /** Rows longer than the task's `max_prompt`. */
  readonly over: number;
  /** In tokens. */
  readonly longest: number;
}

export interface ModelFacts {
  /** @param base a folder or a file that is there */
  look(base: string): ModelLook;
  /** Tokens of the longest of these prompts, as a model of its own that `look` found fit reads them. */
  longestPrompt(base: string, prompts: readonly string[]): number;
  /** Of the tasks that are datasets; files that are still being read, that cannot be read, or are larger than 64 MiB, count for nothing. */
  prompts(tasks: readonly TaskConfig[]): DatasetLook;
  /** In tokens of the config's model; undefined: the task has no `max_prompt`, or its file or its model is not read. */
  promptLengths(config: RunConfig, task: TaskConfig): PromptLengths | undefined;
  /** What is wrong with the file or folder that a tiny model's vocabulary is from; undefined: nothing. */
  vocabularyProblem(file: string): string | undefined;
  /** undefined: a model cannot be read, which `look` reports. */
  memory(config: RunConfig): MemoryLook | undefined;
}
