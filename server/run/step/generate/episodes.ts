/**
 * Episodes of several turns, each at its own pace: as soon as its turn is answered, the policy writes the next one, whatever
 * the others wait for. What is said in between is observed: it is part of the row and never trains.
 */
import { setMaxListeners } from "node:events";
import type { Clock } from "../../../core/basics.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Sample } from "../../../core/policy.ts";
import type { Playing } from "../../../core/slots/episodes.ts";
import type { EpisodeHosts } from "../../environments/episodeHosts.ts";
import type { Harness } from "../../harness/harness.ts";
import { judging, ShapeAnswers, type Answerer } from "./answers.ts";
import { chosen } from "./choosing.ts";
import { assembleRows, type Draft } from "./assemble.ts";
import { Episode, type EpisodeSetting } from "./episode.ts";
import { EnvironmentAnswers, type Hosting } from "./environmentAnswers.ts";
import { EpisodeFeed } from "./episodeFeed.ts";
import { rollOut } from "./generate.ts";
import { stopsOf } from "../../../core/toolCalls.ts";

/** What episodes are played with. */
export interface Table extends EpisodeSetting {
  /** Whether the last attempt of each row was right; see `outcome`. Asked only where the shape wants to know. */
  readonly judge: (batch: Batch) => Promise<Uint8Array>;
  /** What answers, where the shape asks for an environment. */
  readonly hosts?: EpisodeHosts | undefined;
  /** Where the run is; absent: an evaluation. */
  readonly clock?: Clock;
  /** Whether environments tell their state at every reply. */
  readonly keepStates?: boolean;
  /** Whether an episode may be several rows, one after the other; else its last part stands for it. */
  readonly parts?: boolean;
  /** Plays the episodes in the place of the engine's own loop. */
  readonly harness?: Harness | undefined;
}

interface Player {
  readonly episode: Episode;
  readonly answerer: Answerer;
}

function rowsOf(episodes: readonly Episode[], { policy, parts }: Table, version: number): Batch {
  const finished = episodes.flatMap(({ finished: rows }) => (parts === true ? rows : rows.slice(-1)));
  return assembleRows(finished, policy.tokenizer, version);
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
    const choose = this.table.shape.plays?.actions === "choose";
    const samples = choose ? chosen(policy, this.feed, decode) : policy.generate(this.feed, decode);
    for await (const sample of samples) {
      decode.signal?.throwIfAborted();
      this.wrote(this.feed.ownerOf(sample.index), sample);
    }
  }

  private ask(player: Player): void {
    if (player.episode.failed === undefined) this.feed.add(player.episode.prompt, player);
    else this.over(player);
  }
  private over({ answerer }: Player): void {
    answerer.end?.();
    this.feed.ended();
  }

  private wrote(player: Player, sample: Sample): void {
    player.episode.wrote(sample);
    const said = player.answerer.answer();
    if (said instanceof Promise) this.later(said, (later) => this.goOn(player, later));
    else this.goOn(player, said);
  }

  private goOn(player: Player, said: Awaited<ReturnType<Answerer["answer"]>>): void {
    if (said !== undefined && player.episode.hears(said)) this.ask(player);
    else if (said !== undefined && player.answerer.full !== undefined)
      this.later(player.answerer.full(), () => this.over(player));
    else this.over(player);
  }

  /** The generation goes on meanwhile, and ends with what is thrown. */
  private later<Value>(waits: Promise<Value>, then: (value: Value) => void): void {
    waits.then(then).catch((error: unknown) => this.feed.fail(error));
  }
}

type MakeAnswerer = (episode: Episode) => Answerer;

async function playWith(drafts: readonly Draft[], table: Table, answererOf: MakeAnswerer): Promise<Batch> {
  const { version } = table.policy;
  const players = drafts.map((draft): Player => {
    const episode = new Episode(draft, table);
    return { episode, answerer: answererOf(episode) };
  });
  await new Game(players, table).play();
  const episodes = players.map(({ episode }) => episode);
  return rowsOf(episodes, table, version);
}

/** The task's environment and the run's tools answer. */
async function playInEnvironments(
  drafts: readonly Draft[],
  table: Table,
  playing: Playing,
  hosts: EpisodeHosts,
): Promise<Batch> {
  const tools = await hosts.tools();
  const ending = new AbortController();
  // Each episode that waits listens for it.
  setMaxListeners(0, ending.signal);
  const stop = table.decode.stop ?? [];
  const stops = [...stop, ...stopsOf(playing.calls, tools)];
  const decode = { ...table.decode, ...(stops.length > 0 && { stop: stops }) };
  const { keepStates = false, clock } = table;
  const hosting: Hosting = { hosts, playing, tools, signal: ending.signal, keepStates, clock };
  const open = new Set<EnvironmentAnswers>();
  try {
    return await playWith(drafts, { ...table, decode }, (episode) => {
      const answers = new EnvironmentAnswers(episode, hosting);
      open.add(answers);
      return {
        begin: () => answers.begin(),
        answer: () => answers.answer(),
        full: () => answers.full(),
        end: () => {
          open.delete(answers);
          answers.end();
        },
      };
    });
  } finally {
    ending.abort(new Error("the generation has ended"));
    for (const answers of open) answers.end();
  }
}

/**
 * Plays the drafts' episodes to their ends.
 * @throws what generation throws; UserError where a question fills the context
 */
export async function play(drafts: readonly Draft[], table: Table): Promise<Batch> {
  const { policy, decode, shape, judge, hosts, harness } = table;
  if (harness !== undefined) return harness.play(drafts, policy, decode, table.parts === true);
  if (shape.plays !== undefined && hosts !== undefined)
    return playInEnvironments(drafts, table, shape.plays, hosts);
  if (shape.most === 1) return rollOut(policy, drafts, decode);
  const { version } = policy;
  const judged = judging(judge, (episodes) => rowsOf(episodes, table, version));
  return playWith(drafts, table, (episode) => new ShapeAnswers(episode, judged));
}
