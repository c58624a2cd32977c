/** Who answers a question in words: a model of the run, or a server. */
import { z } from "zod";
import { messageOf } from "../../../../shared/lib/errors.ts";
import { param } from "../../../core/declaration.ts";
import { readerOf, type Policy } from "../../../core/policy.ts";
import { refers } from "../../../core/references.ts";
import type { RewardContext } from "../../../core/reward.ts";
import { textWithoutEnds } from "../../../core/rows/ends.ts";
import { chatChoices, chatParams, inParallel, type Asker, type Chat } from "../../../lib/chatCompletions.ts";

/** What was said, or why nothing was. */
export type Told = { readonly text: string } | { readonly error: string };

/** One answer a question, in order. A question that comes again is asked once. */
export type Teller = (texts: readonly string[], context: RewardContext) => Promise<readonly Told[]>;

const maxTokens = (most: number) =>
  param(z.number().int().min(1).default(most), "Longest verdict, in tokens.");

export const serverParam = (most: number) =>
  param(
    z.strictObject({ ...chatParams, max_tokens: maxTokens(most) }),
    "A model at an OpenAI-compatible endpoint.",
  );
export const modelParam = (most: number) =>
  param(
    z.strictObject({
      of: param(refers({ to: "model", also: ["policy", "reference"] }), "A model of the run."),
      max_tokens: maxTokens(most),
    }),
    "A model of the run; it answers greedily.",
  );
/** @param most tokens of a verdict, where the config does not say */
export const tellerParam = (most = 256) => z.union([serverParam(most), modelParam(most)]);
type Chosen = z.output<ReturnType<typeof tellerParam>>;

const asker: Asker = {
  who: "The judge",
  code: "judge-unreachable",
  action: "Start the server, or correct `judge.url`, `judge.model` and `judge.key`.",
};

const unanswered: Told = { error: "the judge gave no answer" };

const onceEach =
  (ask: Teller): Teller =>
  async (all, context) => {
    const texts = [...new Set(all)];
    const said = texts.length === 0 ? [] : await ask(texts, context);
    const known = new Map(texts.map((text, i) => [text, said[i] ?? unanswered]));
    return all.map((text) => known.get(text)!);
  };

/** A server; a request that fails is made once more. */
export const serverTeller = (chat: Chat, how: { readonly max_tokens: number }): Teller =>
  onceEach((texts) =>
    inParallel(texts, chat.parallel, async (text): Promise<Told> => {
      const ask = async (): Promise<Told> => {
        const options = { max_tokens: how.max_tokens, samples: 1, temperature: 0 };
        const [said] = await chatChoices(chat, text, options, asker);
        return { text: said ?? "" };
      };
      try {
        return await ask().catch(ask);
      } catch (error) {
        return { error: messageOf(error) };
      }
    }),
  );

/** A question as a model reads it, by its chat template where it has one. */
export function questionFor({ tokenizer }: Policy, text: string): Int32Array {
  const chat = tokenizer.chat?.([{ role: "user", content: text }]);
  return Int32Array.from([
    ...(chat === undefined ? (tokenizer.prefix ?? []) : []),
    ...tokenizer.encode(chat ?? text),
  ]);
}

/** A model of the run, which answers greedily. */
export const modelTeller = (name: string, how: { readonly max_tokens: number }): Teller =>
  onceEach(async (texts, { models }) => {
    const policy = readerOf(models, name);
    const prompts = texts.map((text, i) => ({ tokens: questionFor(policy, text), key: ["judge", i] }));
    const fits = [...prompts.keys()].filter((i) => prompts[i]!.tokens.length < policy.context);
    const told: Told[] = texts.map(() => ({ error: "the question to the judge fills its context" }));
    const asked = fits.map((i) => prompts[i]!);
    for await (const { index, tokens } of policy.generate(asked, {
      max_tokens: how.max_tokens,
      temperature: 0,
      seed: 0,
      ...(models.names.includes(name) || name === "policy" ? {} : { model: name }),
    }))
      told[fits[index]!] = { text: textWithoutEnds(tokens, policy.tokenizer) };
    return told;
  });

export const tellerOf = (chosen: Chosen): Teller =>
  "url" in chosen ? serverTeller(chosen, chosen) : modelTeller(chosen.of, chosen);
