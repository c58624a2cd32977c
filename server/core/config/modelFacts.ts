/**
 * What rules ask about the models that a config names. Rules know nothing of model files: whoever checks a config for a
 * person fills this in (server/analysis/modelFacts.ts), and nothing of a workspace is executed.
 */
import type { RunConfig } from "./runConfig.ts";

/** What is known of a model by its config, its tokenizer and the headers of its weights. */
export type ModelLook =
  | {
      readonly kind: "fit";
      /** Most tokens of a prompt and its response together. */
      readonly context: number;
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

export interface ModelFacts {
  /** @param base a folder or a file that is there */
  look(base: string): ModelLook;
  /** Tokens of the longest of these prompts, as a model of its own that `look` found fit reads them. */
  longestPrompt(base: string, prompts: readonly string[]): number;
  /** What is wrong with the file or folder that a tiny model's vocabulary is from; undefined: nothing. */
  vocabularyProblem(file: string): string | undefined;
  /** undefined: a model cannot be read, which `look` reports. */
  memory(config: RunConfig): MemoryLook | undefined;
}
