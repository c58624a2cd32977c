/**
 * Episodes of several turns, each at its own pace: as soon as its turn is answered, the policy writes the next one, whatever
 * the others wait for. What is said in between is observed: it is part of the row and never trains.
 */
import type { Batch } from "../../../core/rollouts.ts";
import type { Sample } from "../../../core/policy.ts";
import { judging, ShapeAnswers, type Answerer } from "./answers.ts";
import { assemble, type Draft } from "./assemble.ts";
import { Episode, type EpisodeSetting } from "./episode.ts";
import { EpisodeFeed } from "./episodeFeed.ts";
import { rollOut } from "./generate.ts";

/** What episodes are played with. */
export interface Table extends EpisodeSetting {
  /** Whether the last attempt of each row was right; see `outcome`. Asked only where the shape wants to know. */
  readonly judge: (batch: Batch) => Promise<Uint8Array>;
}

interface Player {
  readonly episode: Episode;
  readonly answerer: Answerer;
}

function rowsOf(episodes: readonly Episode[], { policy }: Table, version: number): Batch {
  const finished = episodes.map((episode) => episode.finished);
  return assemble(
    finished.map(({ draft }) => draft),
    new Map(finished.map(({ sample }, i) => [i, sample])),
    policy.tokenizer,
    version,
  );
}

/** One generation in which all episodes are written. */
class Game {
  private readonly feed: EpisodeFeed<Player>;

  constructor(
    private readonly players: readonly Player[],
    private readonly table: Table,
  ) {
    this.feed = new EpisodeFeed(players.length, table.decode);
  }

  /** @throws what generation and whoever answers throw; the reason of an abort */
  async play(): Promise<void> {
    const { policy, decode } = this.table;
    for (const player of this.players) {
      const waits = player.answerer.begin();
      if (waits === undefined) this.ask(player);
      else this.later(waits, () => this.ask(player));
    }
    for await (const sample of policy.generate(this.feed, decode)) {
      decode.signal?.throwIfAborted();
      this.wrote(this.feed.ownerOf(sample.index), sample);
    }
  }

  private ask(player: Player): void {
    this.feed.add(player.episode.prompt, player);
  }

  private wrote(player: Player, sample: Sample): void {
    player.episode.wrote(sample);
    const said = player.answerer.answer();
    if (said instanceof Promise) this.later(said, (later) => this.goOn(player, later));
    else this.goOn(player, said);
  }

  private goOn(player: Player, said: Awaited<ReturnType<Answerer["answer"]>>): void {
    if (said !== undefined && player.episode.hears(said)) this.ask(player);
    else this.feed.ended();
  }

  /** The generation goes on meanwhile, and ends with what is thrown. */
  private later<Value>(waits: Promise<Value>, then: (value: Value) => void): void {
    waits.then(then).catch((error: unknown) => this.feed.fail(error));
  }
}

/**
 * Plays the drafts' episodes to their ends.
 * @throws what generation throws; UserError where a question fills the context
 */
export async function play(drafts: readonly Draft[], table: Table): Promise<Batch> {
  const { policy, decode, shape, judge } = table;
  if (shape.most === 1) return rollOut(policy, drafts, decode);
  const version = policy.version;
  const judged = judging(judge, (episodes) => rowsOf(episodes, table, version));
  const players = drafts.map((draft): Player => {
    const episode = new Episode(draft, table);
    return { episode, answerer: new ShapeAnswers(episode, judged) };
  });
  await new Game(players, table).play();
  return rowsOf(
    players.map(({ episode }) => episode),
    table,
    version,
  );
}
