/** OpenAI's plain completions, with vLLM's `return_token_ids`. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { weightsOf, type Answers, type Caller, type Piece, type Request } from "./answers.ts";
import { MOST_ANSWERS } from "./bounds.ts";
import { plain } from "./conversation.ts";
import { Refusal } from "./errors.ts";
import { isWorth, tooMuch, unix, usageOf } from "./openAiShape.ts";
import type { Reply } from "./reply.ts";
import { drawingOf, parsed, refuseUnknown, samplingFields } from "./sampling.ts";

const completionSchema = z.looseObject({
  ...samplingFields,
  prompt: z.union([z.string(), z.array(z.string()), z.array(z.int()), z.array(z.array(z.int()))]),
  max_tokens: z.int().min(1).nullish(),
  logprobs: z.int().min(0).nullish(),
});
/** A plain completion's: columns. */
function columnLogprobs(
  answers: Answers,
  tokens: ArrayLike<number>,
  logps: ArrayLike<number>,
  top: boolean,
): object {
  const texts = Array.from(tokens, (id) => answers.tokenizer.decode([id]));
  let offset = 0;
  return {
    tokens: texts,
    token_logprobs: Array.from(logps),
    top_logprobs: top ? texts.map((text, at) => ({ [text]: logps[at]! })) : null,
    text_offset: texts.map((text) => (offset += text.length) - text.length),
  };
}
/** The prompts of a plain completion: texts or tokens, one or several. */
function promptsOf(
  answers: Answers,
  prompt: z.output<typeof completionSchema>["prompt"],
): { text: string; tokens: Int32Array }[] {
  const { tokenizer } = answers;
  const ofTokens = (ids: readonly number[]) => {
    const wrong = ids.find((id) => id < 0 || id >= tokenizer.size);
    if (wrong !== undefined)
      throw new Refusal(
        400,
        "invalid_token",
        `Token ${wrong} is not one of the model's ${tokenizer.size}. Encode the prompt with the model's own tokenizer.`,
        "prompt",
      );
    return { text: tokenizer.decode(ids), tokens: Int32Array.from(ids) };
  };
  const ofText = (text: string) => plain(tokenizer, text, answers.encode);
  if (typeof prompt === "string") return [ofText(prompt)];
  const numbers = prompt.filter((part) => typeof part === "number");
  if (numbers.length > 0) return [ofTokens(numbers)];
  return prompt.map((part) =>
    typeof part === "string" ? ofText(part) : ofTokens(typeof part === "number" ? [part] : part),
  );
}

/** Every prompt has `n` answers. @throws Refusal where they are too many together */
function refuseMany({ prompt, n }: Pick<z.output<typeof completionSchema>, "prompt" | "n">): void {
  const prompts = typeof prompt === "string" || typeof prompt[0] === "number" ? 1 : prompt.length;
  if (prompts * (n ?? 1) <= MOST_ANSWERS) return;
  throw new Refusal(
    400,
    "too_many_answers",
    `${prompts} prompts with ${n ?? 1} answers each are more than ${MOST_ANSWERS} answers. Ask for them in several requests.`,
    "prompt",
  );
}

export async function completions(
  answers: Answers,
  model: string,
  body: unknown,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  const asked = parsed(completionSchema, body);
  refuseUnknown(asked, tooMuch);
  refuseMany(asked);
  const requests = promptsOf(answers, asked.prompt).map(({ text, tokens }): Request => ({
    api: "completions",
    prompt: text,
    tokens,
    max_tokens: asked.max_tokens ?? 16,
    ...drawingOf(asked),
  }));
  const details = {
    ids: asked.return_token_ids === true,
    logprobs: asked.logprobs != null,
    top: (asked.logprobs ?? 0) > 0,
  };
  const head = { id: `cmpl-${randomUUID()}`, object: "text_completion", created: unix(), model };
  const n = asked.n ?? 1;
  const logprobs = (tokens: ArrayLike<number>, logps: ArrayLike<number>): object | null =>
    details.logprobs ? columnLogprobs(answers, tokens, logps, details.top) : null;
  const piece =
    (from: number) =>
    (given: Piece): void => {
      if (asked.stream !== true || !isWorth(given, details)) return;
      const { choice, text, token, logp } = given;
      const some = token === undefined ? [] : [token];
      reply.event({
        ...head,
        ...weightsOf(version),
        choices: [
          {
            index: from + choice,
            text,
            finish_reason: null,
            logprobs: logprobs(some, [logp ?? 0]),
            ...(details.ids && { token_ids: some }),
          },
        ],
      });
    };
  const answering = requests.map((request, at) =>
    answers.answer(request, { ...caller, ...(asked.stream === true && { onPiece: piece(at * n) }) }),
  );
  const { version } = answering[0] ?? { version: 0 };
  if (asked.stream === true) reply.stream(version);
  const written = (await Promise.all(answering.map(({ choices }) => choices))).flat();
  const choices = written.map(({ text, tokens, logps, finish, stop }, index) => ({
    index,
    text: asked.stream === true ? "" : text,
    finish_reason: finish,
    stop_reason: stop,
    logprobs: asked.stream === true ? null : logprobs(tokens, logps),
    ...(details.ids && {
      prompt_token_ids: [...requests[Math.floor(index / n)]!.tokens],
      token_ids: asked.stream === true ? [] : [...tokens],
    }),
  }));
  const usage = usageOf(requests, written);
  if (asked.stream !== true) return reply.json(version, { ...head, ...weightsOf(version), choices, usage });
  for (const choice of choices) reply.event({ ...head, ...weightsOf(version), choices: [choice] });
  if (asked.stream_options?.include_usage === true)
    reply.event({ ...head, ...weightsOf(version), choices: [], usage });
  reply.done("[DONE]");
}
