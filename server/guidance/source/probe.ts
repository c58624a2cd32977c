import { z } from "zod";
import { guidanceSource } from "../../config/declaration.ts";
import type { Tokenizer } from "../../seams.ts";
import type { Help, HelpContext, HelpRequest, Lack } from "../types.ts";

/** A text of the pool as tokens, each with the log of how often the pool goes on so behind what stands before it. */
interface Probe {
  readonly text: string;
  readonly tokens: Int32Array;
  readonly logp: Float64Array;
}

const begins = (tokens: Int32Array, like: Int32Array, length: number): boolean => {
  for (let i = 0; i < length; i++) if (tokens[i] !== like[i]) return false;
  return tokens.length >= length;
};

/** log μ of each token: the texts that begin like it up to there, of those that do so up to the one before; the first: 1. */
export function probesOf(texts: readonly string[], tokenizer: Pick<Tokenizer, "encode">): Probe[] {
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

export const probe = guidanceSource({
  name: "probe",
  summary:
    "A text from a pool behind a failed attempt, from which the policy goes on; of several candidates the one that it finds likeliest there.",
  formula: "μ(w_t) = #{texts that begin w_1 … w_t} / #{texts that begin w_1 … w_{t−1}}, μ(w_1) = 1",
  sources: ["REX-RAG: Reasoning Exploration with Policy Correction in Retrieval-Augmented Generation"],
  offers: () => ({ place: "response", divisible: false, reads: "attempt", likely: true }),
  params: z.object({
    pool: z
      .array(z.string().min(1))
      .min(1)
      .default([
        "\nWait, that may be wrong. ",
        "\nWait, let me check it again. ",
        "\nThat does not fit. Once more: ",
      ])
      .describe("Texts that make the policy think again."),
    candidates: z
      .number()
      .int()
      .min(1)
      .default(1)
      .describe("Texts drawn for an attempt, of which the likeliest is kept; 1: none is left out."),
  }),
  create: ({ pool, candidates }) => {
    let probes: Probe[] | undefined;
    const drawn = ({ random }: HelpRequest, all: readonly Probe[]): Probe[] =>
      [...all]
        .map((one, i) => ({ one, draw: random.fork("probe", i).next() }))
        .sort((a, b) => a.draw - b.draw)
        .slice(0, candidates)
        .map(({ one }) => one);
    const likeliest = async (
      requests: readonly HelpRequest[],
      context: HelpContext,
      all: readonly Probe[],
    ): Promise<Probe[]> => {
      const options = requests.map((request) => drawn(request, all));
      if (candidates === 1) return options.map(([only]) => only!);
      const means = await context.likelihood(
        requests.flatMap(({ task, attempt }, i) =>
          options[i]!.map(({ tokens }) => ({
            prompt: task.prompt,
            ...(task.begin !== undefined && { begin: task.begin }),
            before: attempt?.sample.tokens ?? new Int32Array(0),
            tokens,
          })),
        ),
      );
      let at = 0;
      return options.map((own) => {
        const scores = means.subarray(at, (at += own.length));
        return own[scores.indexOf(Math.max(...scores))] ?? own[0]!;
      });
    };
    return {
      reads: "attempt",
      help: async (requests, context) => {
        probes ??= probesOf(pool, context.tokenizer);
        const chosen = await likeliest(requests, context, probes);
        return requests.map(({ attempt }, i): Help | Lack => {
          if (attempt === undefined) return { lack: "there is no attempt" };
          const { tokens, logp } = chosen[i]!;
          return {
            from: "guided",
            by: "pool",
            lead: [
              { kind: "own", sample: attempt.sample },
              { kind: "given", tokens, logp },
            ],
          };
        });
      },
    };
  },
});
