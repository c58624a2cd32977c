/** What the table says of a cause. */
import type { TrainerThat } from "../../../shared/run/trainers.ts";

export type FailedTrainer = TrainerThat<"checked">;

export interface Cause {
  /** Of an exception's text. */
  readonly pattern: RegExp;
  /** Of one of its frames, `file name`: where the same exception has several causes. */
  readonly frame?: RegExp;
  /** What has happened, as a sentence without its full stop. @param found of the pattern */
  readonly says: (found: RegExpExecArray) => string;
  /** What a person changes, by whose config it is. */
  readonly keys: Readonly<Partial<Record<FailedTrainer | "gradus", string>>>;
  /** The key is in the text itself. */
  readonly named?: (found: RegExpExecArray) => string | undefined;
  /** @param key of the trainer's config, or words where it has none */
  readonly action: (key: string, found: RegExpExecArray) => string;
  /** Words for a trainer that is not known, or has no such key. */
  readonly words: string;
  /** It often follows from another failure: others count before it. */
  readonly late?: true;
  /** Libraries throw it and go on: it counts where it ended the log. */
  readonly caught?: true;
}
