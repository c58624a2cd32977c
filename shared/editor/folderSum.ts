/** What `gradus check --json` prints of a folder: also what the editor's card is made of. */

export interface Finding {
  /** As the person would write it from here. */
  readonly file: string;
  /** Of a notebook, from 1; `line` is then the cell's. */
  readonly cell?: number;
  /** From 1; absent: the whole file. */
  readonly line?: number;
  readonly severity: "error" | "warning" | "info";
  /** Who says so: a rule of `validate`, the reward on reference and wrong answers, or the verdict on a log. */
  readonly by: "validate" | "reward" | "log";
  readonly rule?: string;
  /** `gradus validate --fix` mends it. */
  readonly fixable?: boolean;
  readonly message: string;
}

/** A trainer whose configurations were checked, by one release. */
export interface CheckedTrainer {
  readonly trainer: string;
  readonly version: string;
  /** Nothing says which release it is: the newest that is known here was taken. */
  readonly assumed: boolean;
  readonly files: readonly string[];
}

/** Rollouts that a trainer has left. */
export interface FolderOutput {
  /** The folder to open as a run. */
  readonly folder: string;
  readonly steps: number;
  /** The configuration that they came from. */
  readonly config: string;
}

/** The sources of a trainer, with what the person has added or changed: the rest of it is the trainer's own. */
export interface TrainerCheckout {
  readonly trainer: string;
  readonly version: string;
  readonly folder: string;
  /** Configurations of the person's. */
  readonly yours: readonly string[];
}

export interface FolderSum {
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Configurations, launch scripts and notebooks that were checked. */
  readonly projects: readonly string[];
  readonly logs: readonly string[];
  /** Files that no rule has read, by their trainer. */
  readonly unchecked: readonly { readonly trainer: string; readonly files: readonly string[] }[];
  readonly trainers: readonly CheckedTrainer[];
  readonly outputs: readonly FolderOutput[];
  readonly checkouts: readonly TrainerCheckout[];
  /** Files whose reward is a function of the folder, which only running it can try. */
  readonly rewards: readonly string[];
  /** Sentences of what was not tried, with what would try it. */
  readonly left: readonly string[];
}
