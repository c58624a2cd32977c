/** Who answers the policy's turns. */
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import { Gathered } from "../../../lib/waiting/gathered.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Episode, Said } from "./episode.ts";
import { replied } from "./prompts.ts";

/** Answers one episode. */
export interface Answerer {
  /** Says what comes before the first turn; undefined: at once. */
  begin(): Promise<void> | undefined;
  /** What is said to the turn that has just ended, at once or later; undefined: the episode has ended. */
  answer(): Said | undefined | Promise<Said | undefined>;
  /** What was said leaves no room for another turn. */
  full?(): Promise<void>;
  /** The episode is over, or the generation that it is part of. Called once. */
  end?(): void;
}

/** Whether the last attempts of episodes were right; undefined: it could not be decided. Those that wait are judged together. */
export function judging(
  judge: (batch: Batch) => Promise<Uint8Array>,
  rowsOf: (episodes: readonly Episode[]) => Batch,
): Gathered<Episode, boolean | undefined> {
  return new Gathered(async (episodes) => {
    const verdicts = await judge(rowsOf(episodes));
    return Array.from(verdicts, (verdict) =>
      verdict === outcome.unknown ? undefined : verdict === outcome.right,
    );
  });
}

/** The shape itself: a message after each attempt. */
export class ShapeAnswers implements Answerer {
  constructor(
    private readonly episode: Episode,
    private readonly judged: Gathered<Episode, boolean | undefined>,
  ) {}

  begin(): undefined {
    const { draft, tries, setting } = this.episode;
    const { ask } = setting.shape;
    if (ask !== undefined) this.episode.asks(ask(draft.help?.record.prompt ?? draft.task.prompt, tries));
    return undefined;
  }

  answer(): Said | undefined | Promise<Said | undefined> {
    const { mayGoOn, setting } = this.episode;
    if (!mayGoOn) return undefined;
    return setting.shape.judges
      ? this.judged.answer(this.episode).then((right) => this.reply(right))
      : this.reply(undefined);
  }

  private reply(right: boolean | undefined): Said | undefined {
    const { number, tries, setting, endToken } = this.episode;
    const text = setting.shape.reply({ number, tries, right });
    if (text === undefined) return undefined;
    return { role: "user", text, tokens: replied(setting.policy.tokenizer, text, endToken, setting.asking) };
  }
}
