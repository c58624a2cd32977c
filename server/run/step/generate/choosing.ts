/**
 * Turns that the policy does not write but draws among the actions that its environment lists (GLAM): each action is scored
 * after what was said so far, those of all episodes that wait together.
 */
import { categorical } from "../../../algorithm/loss/choices.ts";
import { proportional } from "../../../methods/generation/drawing.ts";
import { batchOfSamples, writtenRow } from "../../../core/rows/sampledRows.ts";
import type { RolloutRecord } from "../../../core/rollouts.ts";
import type { DecodeOptions, Policy, Prompt, Sample } from "../../../core/policy.ts";
import { randomStream } from "../../../lib/random.ts";
import type { Draft } from "./assemble.ts";
import type { Episode } from "./episode.ts";
import type { EpisodeFeed } from "./episodeFeed.ts";

/** A turn that waits, with the tokens of each action that it may be. */
interface Waiting {
  readonly index: number;
  readonly prompt: Prompt;
  readonly draft: Draft;
  readonly actions: readonly Int32Array[];
}

/** As `Policy.generate`, of the feed's prompts. @throws UserError where an episode's environment listed no actions */
export async function* chosen<Owner extends { readonly episode: Episode }>(
  policy: Policy,
  feed: EpisodeFeed<Owner>,
  decode: DecodeOptions,
): AsyncGenerator<Sample> {
  for (let taken = 0; ;) {
    // Episodes that are answered at once are asked together.
    await new Promise((resolve) => setImmediate(resolve));
    decode.signal?.throwIfAborted();
    await decode.between?.();
    const prompts = feed.take();
    if (prompts.length === 0 && !feed.open) return;
    if (prompts.length === 0) await feed.next();
    const waiting = prompts.map((prompt, i): Waiting => {
      const { episode } = feed.ownerOf(taken + i);
      const actions = episode.choices.map((action) => policy.tokenizer.encode(action));
      return { index: taken + i, prompt, draft: episode.draft, actions };
    });
    taken += prompts.length;
    yield* await drawn(policy, waiting, decode);
  }
}

async function drawn(policy: Policy, waiting: readonly Waiting[], decode: DecodeOptions): Promise<Sample[]> {
  if (waiting.length === 0) return [];
  const batch = batchOfSamples(
    waiting.flatMap(({ prompt: { tokens, prefix = [] }, draft, actions }) =>
      actions.map((action) => writtenRow(recordOf(draft), action, Int32Array.from([...tokens, ...prefix]))),
    ),
  );
  const { logp } = await policy.score(batch, { model: decode.model ?? "policy", channels: ["logp"] });
  let row = 0;
  return waiting.map((one) => {
    const scores = one.actions.map(() => {
      row += 1;
      return logp!.subarray(batch.offsets[row - 1], batch.offsets[row]).reduce((sum, each) => sum + each, 0);
    });
    return sampleOf(one, scores, decode, policy.version);
  });
}

/** @param scores Σ log π of each action's tokens */
function sampleOf(
  { index, prompt, actions }: Waiting,
  scores: readonly number[],
  decode: DecodeOptions,
  version: number,
): Sample {
  const own = categorical(scores);
  const temperature = decode.temperature_at?.(0) ?? decode.temperature;
  const random = randomStream(decode.seed, "action", ...prompt.key);
  const sampled = temperature > 0 ? categorical(scores, temperature) : undefined;
  const place =
    sampled === undefined
      ? scores.indexOf(Math.max(...scores))
      : proportional(Array.from(sampled.logp, Math.exp), random);
  const tokens = actions[place]!;
  const atFirst = (value: number, rest = 0): Float64Array => {
    const column = new Float64Array(tokens.length).fill(rest);
    column[0] = value;
    return column;
  };
  return {
    index,
    tokens,
    logp_old: atFirst(own.logp[place]!),
    logp_sampled: atFirst(sampled?.logp[place] ?? 0),
    // A mean over tokens is one over choices.
    entropy: atFirst(own.entropy, Number.NaN),
    versions: new Int32Array(tokens.length).fill(version),
    finish: "stop",
  };
}

const recordOf = ({ task, arm, group, index, use, source }: Draft): RolloutRecord => ({
  task,
  arm,
  group,
  index,
  use,
  source,
  prompt: task.prompt,
  response: "",
  finish: "stop",
});
