/** What an edit of the reward would have changed in the last run: the daemon scores its rollouts again while one types. */
import type { Rescored, Sweep } from "../../shared/rollouts/rescore.ts";
import type { OpenConfig } from "./documents.ts";

export interface LiveRescore {
  readonly rescored: Rescored;
  /** Paths of what is otherwise than in the run, in the order of the config: `reward.terms.brevity`, `advantage`. */
  readonly changed: readonly string[];
}

export interface Rescoring {
  /** The config has been read. Scores again where its reward is not that of the run. */
  update(config: OpenConfig, trusted: boolean): void;
  /** The config has been closed. */
  forget(file: string): void;
  /** For the config as it is; undefined where nothing differs, or nothing is known yet. */
  of(config: OpenConfig): LiveRescore | undefined;
  /** Whether the config has a run with rollouts. */
  has(config: OpenConfig): boolean;
  /** undefined where there is no run. */
  sweep(config: OpenConfig, term: string, trusted: boolean): Promise<Sweep | undefined>;
  onChange(listener: (file: string) => void): { dispose(): void };
}
