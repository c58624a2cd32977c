/** OpenAI's chat completions, with vLLM's `return_token_ids`. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { weightsOf, type Answers, type Caller, type Choice, type Piece, type Request } from "./answers.ts";
import { MOST_MESSAGES, MOST_TOOLS } from "./bounds.ts";
import { openAiMessage, openAiTool, rendered } from "./conversation.ts";
import type { Reply } from "./reply.ts";
import { drawingOf, parsed, refuseUnknown, samplingFields } from "./sampling.ts";
import { isWorth, tooMuch, unix, usageOf, type Details } from "./openAiShape.ts";

const chatSchema = z.looseObject({
  ...samplingFields,
  messages: z.array(openAiMessage).min(1).max(MOST_MESSAGES),
  tools: z.array(openAiTool).max(MOST_TOOLS).nullish(),
  tool_choice: z.union([z.enum(["auto", "none"]), z.null()]).optional(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).nullish(),
  chat_template_kwargs: z.record(z.string(), z.json()).nullish(),
});
const bytesOf = (text: string): number[] => [...Buffer.from(text)];

/** The log-probs of tokens, at temperature 1. Of the alternatives only the token itself is known. */
function tokenLogprobs(
  answers: Answers,
  tokens: ArrayLike<number>,
  logps: ArrayLike<number>,
  top: boolean,
): object[] {
  return Array.from(tokens, (id, at) => {
    const token = answers.tokenizer.decode([id]);
    const one = { token, logprob: logps[at]!, bytes: bytesOf(token) };
    return { ...one, top_logprobs: top ? [one] : [] };
  });
}
const toolCalls = ({ calls }: Choice): object[] =>
  calls.map(({ name, arguments: args }) => ({
    id: `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));

export async function chat(
  answers: Answers,
  model: string,
  body: unknown,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  const asked = parsed(chatSchema, body);
  const format = asked["response_format"];
  const plainText = z.object({ type: z.literal("text") }).safeParse(format).success;
  refuseUnknown(plainText ? { ...asked, response_format: null } : asked, tooMuch);
  const tools = asked.tool_choice === "none" ? [] : (asked.tools ?? []);
  const variables = asked.chat_template_kwargs ?? undefined;
  const conversation = { messages: asked.messages, tools, variables };
  const { text, tokens } = rendered(answers.tokenizer, conversation, answers.encode);
  const rendering: Request = {
    api: "chat",
    prompt: text,
    tokens,
    messages: asked.messages,
    ...(tools.length > 0 && { tools }),
    max_tokens: asked.max_completion_tokens ?? asked.max_tokens ?? undefined,
    ...drawingOf(asked),
  };
  const request = answers.inSession(rendering, caller);
  const details = {
    ids: asked.return_token_ids === true,
    logprobs: asked.logprobs === true,
    top: (asked.top_logprobs ?? 0) > 0,
  };
  const id = `chatcmpl-${randomUUID()}`;
  const usage = asked.stream_options?.include_usage === true;
  if (asked.stream === true)
    return streamChat(answers, { request, details, id, model, usage }, caller, reply);
  const { version, choices } = answers.answer(request, caller);
  const written = await choices;
  reply.json(version, {
    id,
    object: "chat.completion",
    created: unix(),
    model,
    ...weightsOf(version),
    choices: written.map((choice, index) => ({
      index,
      message: {
        role: "assistant",
        content: choice.calls.length > 0 && choice.text === "" ? null : choice.text,
        refusal: null,
        ...(choice.calls.length > 0 && { tool_calls: toolCalls(choice) }),
      },
      logprobs: details.logprobs
        ? { content: tokenLogprobs(answers, choice.tokens, choice.logps, details.top), refusal: null }
        : null,
      finish_reason: choice.finish,
      ...(details.ids && { token_ids: [...choice.tokens] }),
    })),
    usage: usageOf([request], written),
    ...(details.ids && { prompt_token_ids: [...request.tokens] }),
  });
}

interface Streaming {
  readonly request: Request;
  readonly details: Details;
  readonly id: string;
  readonly model: string;
  readonly usage: boolean;
}
async function streamChat(
  answers: Answers,
  streaming: Streaming,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  const { request, details, id, model, usage } = streaming;
  const created = unix();
  const chunk = (choices: object[], more: object = {}): void =>
    reply.event({
      id,
      object: "chat.completion.chunk",
      created,
      model,
      ...weightsOf(version),
      choices,
      ...more,
    });
  const delta = (index: number, said: object, more: object = {}): object => ({
    index,
    delta: said,
    logprobs: null,
    finish_reason: null,
    ...more,
  });
  const onPiece = (piece: Piece): void => {
    if (!isWorth(piece, details)) return;
    const { choice, text, token, logp } = piece;
    chunk([
      delta(
        choice,
        { content: text },
        {
          ...(details.logprobs &&
            token !== undefined && {
              logprobs: { content: tokenLogprobs(answers, [token], [logp!], details.top), refusal: null },
            }),
          ...(details.ids && { token_ids: token === undefined ? [] : [token] }),
        },
      ),
    ]);
  };
  const { version, choices } = answers.answer(request, { ...caller, onPiece });
  reply.stream(version);
  chunk(
    Array.from({ length: request.n }, (_, index) => delta(index, { role: "assistant", content: "" })),
    details.ids ? { prompt_token_ids: [...request.tokens] } : {},
  );
  const written = await choices;
  written.forEach((choice, index) => {
    if (choice.calls.length > 0)
      chunk([delta(index, { tool_calls: toolCalls(choice).map((call, at) => ({ index: at, ...call })) })]);
    chunk([delta(index, {}, { finish_reason: choice.finish })]);
  });
  if (usage) chunk([], { usage: usageOf([request], written) });
  reply.done("[DONE]");
}
