import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Tokenizer } from "../../../core/policy.ts";
import type { Attempt, Help, HelpContext, HelpRequest, Lack } from "../../../core/slots/guidance.ts";

/** A text of the pool as tokens, each with the log of its frequency in the pool after the tokens before it. */
interface PooledText {
  readonly text: string;
  readonly tokens: Int32Array;
  readonly logp: Float64Array;
}

const begins = (tokens: Int32Array, like: Int32Array, length: number): boolean => {
  for (let i = 0; i < length; i++) if (tokens[i] !== like[i]) return false;
  return tokens.length >= length;
};

/** A request, and what its rollout continues from. */
interface Going {
  readonly request: HelpRequest;
  readonly sample: Sample;
}

/** log μ of each token: the texts that begin like it up to there, of those that do so up to the one before; the first: 1. */
export function probesOf(texts: readonly string[], tokenizer: Pick<Tokenizer, "encode">): PooledText[] {
  const all = texts.map((text) => tokenizer.encode(text));
  return all.map((tokens, i) => ({
    text: texts[i]!,
    tokens,
    logp: Float64Array.from(tokens, (_, t) => {
      if (t === 0) return 0;
      const count = (length: number): number => all.filter((other) => begins(other, tokens, length)).length;
      return Math.log(count(t + 1) / count(t));
    }),
  }));
}

type Sample = Attempt["sample"];

const firstOf = (sample: Sample, length: number): Sample => ({
  tokens: sample.tokens.slice(0, length),
  logp_old: sample.logp_old.slice(0, length),
  logp_sampled: sample.logp_sampled.slice(0, length),
  entropy: sample.entropy.slice(0, length),
  versions: sample.versions.slice(0, length),
});

/** An attempt up to where the last such text in it begins; undefined where it has none. */
function beforeText(sample: Sample, text: string, tokenizer: Pick<Tokenizer, "decode">): Sample | undefined {
  const pieces = Array.from(sample.tokens, (token) => tokenizer.decode([token]));
  const at = pieces.join("").lastIndexOf(text);
  if (at < 0) return undefined;
  let [length, end] = [0, pieces[0]?.length ?? 0];
  while (length < pieces.length && end <= at) end += pieces[++length]?.length ?? 0;
  return firstOf(sample, length);
}

const share = z.number().min(0).max(1);
const savedShare = z.object({ share: z.number() });

export const probe = guidanceSource({
  name: "probe",
  summary:
    "Inserts a text from a pool after a failed attempt, and the policy continues from it. Of several candidates it inserts the one that the policy finds likeliest there.",
  formula: "μ(w_t) = #{texts that begin w_1 … w_t} / #{texts that begin w_1 … w_{t−1}}, μ(w_1) = 1",
  sources: ["REX-RAG: Reasoning Exploration with Policy Correction in Retrieval-Augmented Generation"],
  offers: () => ({ place: "response", divisible: false, reads: "attempt", likely: true }),
  params: z.object({
    pool: param(
      z
        .array(z.string().min(1))
        .min(1)
        .default([
          "\nWait, that may be wrong. ",
          "\nWait, let me check it again. ",
          "\nThat does not fit. Once more: ",
        ]),
      "Texts that make the policy think again.",
    ),
    candidates: param(
      z.number().int().min(1).default(1),
      "Texts drawn for each attempt, of which the likeliest is kept; 1 keeps the one drawn.",
    ),
    cut: param(
      z.string().min(1).nullable().default(null),
      "What an answer begins with: the attempt is cut before its last occurrence, and the text follows there. null: the text follows the whole attempt.",
    ),
    keep: param(
      share.nullable().default(null),
      "Most helped rollouts in a step, as a share of its unhelped ones: those whose inserted text the policy finds likeliest are kept. null: all.",
    ),
    follow: param(
      share.default(0),
      "Weight of a step in a moving average of how often helped rollouts succeed; the average replaces `keep`, which is its starting value.",
    ),
  }),
  create: ({ pool, candidates, cut, keep, follow }) => {
    let probes: PooledText[] | undefined;
    let kept = keep;
    const drawn = ({ random }: HelpRequest, all: readonly PooledText[]): PooledText[] =>
      [...all]
        .map((one, i) => ({ one, draw: random.fork("probe", i).next() }))
        .sort((a, b) => a.draw - b.draw)
        .slice(0, candidates)
        .map(({ one }) => one);
    /** For each request the likeliest of its texts, and how likely it is where that was asked. */
    const likeliest = async (
      requests: readonly Going[],
      context: HelpContext,
      all: readonly PooledText[],
    ): Promise<{ readonly probe: PooledText; readonly score: number }[]> => {
      const options = requests.map(({ request }) => drawn(request, all));
      if (candidates === 1 && kept === null)
        return options.map(([only]) => ({ probe: only!, score: Number.NaN }));
      const means = await context.likelihood(
        requests.flatMap(({ request: { task }, sample }, i) =>
          options[i]!.map(({ tokens }) => ({
            prompt: task.prompt,
            ...(task.begin !== undefined && { begin: task.begin }),
            before: sample.tokens,
            tokens,
          })),
        ),
      );
      let at = 0;
      return options.map((own) => {
        const scores = means.subarray(at, (at += own.length));
        const best = Math.max(0, scores.indexOf(Math.max(...scores)));
        return { probe: own[best]!, score: scores[best]! };
      });
    };
    /** What a request continues from, or why there is nothing. */
    const goingOn = (request: HelpRequest, tokenizer: Tokenizer): Going | Lack => {
      const { attempt } = request;
      if (attempt === undefined) return { lack: "there is no attempt" };
      const sample = cut === null ? attempt.sample : beforeText(attempt.sample, cut, tokenizer);
      return sample === undefined
        ? { lack: `the attempt has no ${JSON.stringify(cut)} to be cut before` }
        : { request, sample };
    };
    /** The most that the step keeps, of those with the greatest scores. */
    const chosen = (scores: readonly number[], plain: number): ReadonlySet<number> => {
      const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!);
      return new Set(kept === null ? order : order.slice(0, Math.floor(kept * plain + 1e-9)));
    };
    return {
      reads: "attempt",
      help: async (requests, context) => {
        probes ??= probesOf(pool, context.tokenizer);
        const all = requests.map((request) => goingOn(request, context.tokenizer));
        const going = all.flatMap((one) => ("lack" in one ? [] : [one]));
        const found = await likeliest(going, context, probes);
        const stay = chosen(
          found.map(({ score }) => score),
          context.plain,
        );
        let at = 0;
        return all.map((one): Help | Lack => {
          if ("lack" in one) return one;
          const here = at++;
          if (!stay.has(here)) return { lack: "others are likelier", wanted: true };
          const { tokens, logp } = found[here]!.probe;
          return {
            from: "guided",
            by: "pool",
            lead: [
              { kind: "own", sample: one.sample },
              { kind: "given", tokens, logp },
            ],
          };
        });
      },
      ...(keep !== null &&
        follow > 0 && {
          learned: ({ rollouts, successes }) => {
            kept = (1 - follow) * kept! + (follow * successes) / Math.max(1, rollouts);
          },
          save: (): Saved => ({ json: { share: kept } }),
          load: ({ json }: Saved) => {
            kept = savedShare.parse(json).share;
          },
        }),
    };
  },
});
