/**
 * Episodes that a program of the user's plays: it works on a task by calling the policy as a model server, and what it
 * called becomes rollouts with the tokens that the policy wrote.
 */
import { createHash } from "node:crypto";
import { inParallel } from "../../lib/chatCompletions.ts";
import { randomStream } from "../../lib/random.ts";
import type { Batch, Played } from "../../core/rollouts.ts";
import type { DecodeOptions, Policy, Tokenizer } from "../../core/policy.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { clientVariables } from "../../endpoint/clientVariables.ts";
import { assembleRows, type Draft, type EpisodeRow } from "../step/generate/assemble.ts";
import { nothing } from "../step/generate/generate.ts";
import { conversationsOf, type Conversation } from "./captured.ts";
import type { PolicyServer, SessionPlace } from "./policyServer.ts";
import { ProgramPerRollout, WarmProgram, type HarnessProgram, type HarnessVerdict } from "./program.ts";

export type HarnessConfig = Pick<StageBody["rollout"], "warm" | "parallel" | "calls" | "wait"> & {
  readonly command: NonNullable<StageBody["rollout"]["command"]>;
};

interface PlayedEpisode {
  readonly verdict: HarnessVerdict;
  readonly conversations: readonly Conversation[];
  readonly seconds: number;
}

/** A name for URLs and headers, the same for the same rollout. */
const nameOf = ({ prompt }: Draft, version: number): string =>
  createHash("sha256")
    .update(JSON.stringify([version, ...prompt.key]))
    .digest("hex")
    .slice(0, 24);

const environmentOf = (place: SessionPlace, work: object): Record<string, string> => ({
  ...clientVariables(place, place.token),
  GRADUS_MODEL: place.model,
  GRADUS_TASK: JSON.stringify(work),
});

export class Harness {
  private readonly program: HarnessProgram;

  constructor(
    private readonly config: HarnessConfig,
    private readonly server: PolicyServer,
  ) {
    const { words, folder } = config.command;
    this.program = config.warm ? new WarmProgram(words, folder) : new ProgramPerRollout(words, folder);
  }

  /**
   * Has every draft played. A step waits for all of its rollouts, each for at most `rollout.wait` seconds.
   * @param parts whether an episode may be several rows; else its last conversation stands for it
   * @throws UserError where the policy's server has ended; the reason of an abort
   */
  async play(
    drafts: readonly Draft[],
    policy: Policy,
    decode: DecodeOptions,
    parts: boolean,
  ): Promise<Batch> {
    const { version, tokenizer } = policy;
    await this.server.serve(version);
    const played = await inParallel(drafts, this.config.parallel, (draft) => this.one(draft, policy, decode));
    decode.signal?.throwIfAborted();
    const rows = drafts.flatMap((draft, i) => {
      const own = rowsOf(draft, played[i]!, tokenizer);
      return parts ? own : own.slice(-1);
    });
    return assembleRows(rows, tokenizer, version);
  }

  private async one(draft: Draft, policy: Policy, decode: DecodeOptions): Promise<PlayedEpisode> {
    await decode.between?.();
    const began = performance.now();
    const name = nameOf(draft, policy.version);
    const seed = randomStream(decode.seed, "harness", ...draft.prompt.key).integer(2 ** 31);
    const { temperature, top_p = 1, top_k = 0, min_p = 0, max_tokens } = decode;
    const { calls, wait } = this.config;
    const signal = decode.signal ?? new AbortController().signal;
    const place = await this.server.begin(name, {
      temperature,
      top_p,
      top_k,
      min_p,
      max_tokens,
      seed,
      calls,
    });
    const { id, env, source, prompt, answer, data } = draft.task;
    const work = {
      task: { id, env, source, prompt, data, ...(answer !== undefined && { answer }) },
      prompt,
      split: draft.use === "evaluate" ? "evaluate" : "train",
      seed,
      openai_base_url: place.openai,
      anthropic_base_url: place.anthropic,
      url: place.url,
      session: name,
      api_key: place.token,
      model: place.model,
      temperature,
      max_tokens,
    };
    const job = { id: name, work, environment: environmentOf(place, work) };
    const verdict = await this.program.run(job, wait, signal);
    const captured = await this.server.end(name);
    return {
      verdict,
      conversations: conversationsOf(captured, policy.tokenizer),
      seconds: (performance.now() - began) / 1000,
    };
  }

  async close(): Promise<void> {
    this.program.close();
    await this.server.close();
  }
}

/** What became of the episode, apart from its tokens. */
function outcomeOf({ verdict, conversations, seconds }: PlayedEpisode): {
  readonly reward: number | undefined;
  readonly played: Played;
  readonly failed?: string;
} {
  const done = verdict.kind === "done";
  const reward = done ? verdict.reward : undefined;
  const played: Played = {
    environment: reward !== undefined,
    calls: 0,
    failed_calls: 0,
    components: done ? verdict.components : {},
    seconds,
  };
  if (!done) return { reward, played, failed: verdict.message };
  return conversations.length > 0
    ? { reward, played }
    : { reward, played, failed: "the harness did not call the policy" };
}

/**
 * An episode's rows: one a conversation, the last of which is scored and stands for the episode. What failed, or called
 * nothing, is an error of its reward.
 */
function rowsOf(draft: Draft, one: PlayedEpisode, tokenizer: Tokenizer): readonly EpisodeRow[] {
  const { reward, played, failed } = outcomeOf(one);
  const { prefix: _, ...prompt } = draft.prompt;
  const shared = { played, ...(failed !== undefined && { failed }) };
  const count = one.conversations.length;
  // A row has a token at the least.
  if (count === 0) {
    const parts = [{ kind: "observed" as const, tokens: Int32Array.of(tokenizer.eos) }];
    const episode = { parts, turns: [], tries: 0, ...shared };
    const sample = { ...nothing(0, draft, tokenizer), finish: "error" as const };
    return [{ draft: { ...draft, prompt, episode }, sample }];
  }
  return one.conversations.map(({ context, parts, turns, sample }, i) => {
    const last = i === count - 1;
    const rewarded = turns.map((turn, n) =>
      last && n === turns.length - 1 && reward !== undefined ? { ...turn, reward } : turn,
    );
    const part = count > 1 ? { part: { number: i + 1, of: count } } : {};
    const episode = { parts, turns: rewarded, tries: turns.length, ...shared, ...part };
    const ended = failed === undefined ? sample : { ...sample, finish: "error" as const };
    return { draft: { ...draft, prompt: { ...prompt, tokens: context }, episode }, sample: ended };
  });
}
