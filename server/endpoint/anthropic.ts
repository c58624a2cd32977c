/** Anthropic's messages. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { weightsOf, type Answers, type Caller, type Choice, type Request } from "./answers.ts";
import { MOST_MESSAGES, MOST_STOP, MOST_STOPS, MOST_TOOLS } from "./bounds.ts";
import { anthropicMessage, anthropicSystem, anthropicTool, rendered } from "./conversation.ts";
import type { Reply } from "./reply.ts";
import { drawingOf, parsed } from "./sampling.ts";

const conversationFields = {
  messages: z.array(anthropicMessage).min(1).max(MOST_MESSAGES),
  system: anthropicSystem.nullish(),
  tools: z.array(anthropicTool).max(MOST_TOOLS).nullish(),
  tool_choice: z.looseObject({ type: z.enum(["auto", "none"]) }).nullish(),
} as const;
const countSchema = z.looseObject(conversationFields);
const messagesSchema = z.looseObject({
  ...conversationFields,
  max_tokens: z.int().min(1),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string().max(MOST_STOP)).max(MOST_STOPS).nullish(),
  stream: z.boolean().nullish(),
  seed: z.int().nullish(),
  return_token_ids: z.boolean().nullish(),
});

function conversation(answers: Answers, asked: z.output<typeof countSchema>) {
  const tools = asked.tool_choice?.type === "none" ? [] : (asked.tools ?? []);
  const messages = [...(asked.system == null ? [] : [asked.system]), ...asked.messages.flat()];
  return { tools, messages, ...rendered(answers.tokenizer, { messages, tools }, answers.encode) };
}
export function countTokens(answers: Answers, body: unknown, version: number, reply: Reply): void {
  const { tokens } = conversation(answers, parsed(countSchema, body));
  reply.json(version, { input_tokens: tokens.length });
}

const stopReason = ({ finish, stop, calls }: Choice): string =>
  finish === "length"
    ? "max_tokens"
    : calls.length > 0
      ? "tool_use"
      : stop === null
        ? "end_turn"
        : "stop_sequence";
const useBlocks = ({ calls }: Choice): { type: "tool_use"; id: string; name: string; input: object }[] =>
  calls.map(({ name, arguments: input }) => ({
    type: "tool_use",
    id: `toolu_${randomUUID().replaceAll("-", "").slice(0, 24)}`,
    name,
    input,
  }));

export async function messages(
  answers: Answers,
  model: string,
  body: unknown,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  const asked = parsed(messagesSchema, body);
  const { text, tokens, tools, messages: said } = conversation(answers, asked);
  const rendering: Request = {
    api: "messages",
    prompt: text,
    tokens,
    messages: said,
    ...(tools.length > 0 && { tools }),
    max_tokens: asked.max_tokens,
    ...drawingOf({
      temperature: asked.temperature,
      stop: asked.stop_sequences,
      seed: asked.seed,
      top_p: asked.top_p,
      top_k: asked.top_k,
    }),
  };
  const request = answers.inSession(rendering, caller);
  const head = (version: number): object => ({
    id: `msg_${randomUUID()}`,
    type: "message",
    role: "assistant",
    model,
    ...weightsOf(version),
    ...(asked.return_token_ids === true && { prompt_token_ids: [...request.tokens] }),
  });
  const input_tokens = request.tokens.length;
  if (asked.stream === true) return streamMessage(answers, request, head, caller, reply);
  const { version, choices } = answers.answer(request, caller);
  const [choice] = await choices;
  reply.json(version, {
    ...head(version),
    content: [
      ...(choice!.text === "" && choice!.calls.length > 0 ? [] : [{ type: "text", text: choice!.text }]),
      ...useBlocks(choice!),
    ],
    stop_reason: stopReason(choice!),
    stop_sequence: choice!.stop,
    usage: { input_tokens, output_tokens: choice!.tokens.length },
    ...(asked.return_token_ids === true && { token_ids: [...choice!.tokens] }),
  });
}

async function streamMessage(
  answers: Answers,
  request: Request,
  head: (version: number) => object,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  const send = (type: string, more: object): void => reply.event({ type, ...more }, type);
  const onPiece = ({ text }: { readonly text: string }): void => {
    if (text !== "") send("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  };
  const { version, choices } = answers.answer(request, { ...caller, onPiece });
  reply.stream(version);
  send("message_start", {
    message: {
      ...head(version),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: request.tokens.length, output_tokens: 0 },
    },
  });
  send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  const [choice] = await choices;
  send("content_block_stop", { index: 0 });
  useBlocks(choice!).forEach(({ input, ...block }, at) => {
    send("content_block_start", { index: at + 1, content_block: { ...block, input: {} } });
    send("content_block_delta", {
      index: at + 1,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    });
    send("content_block_stop", { index: at + 1 });
  });
  send("message_delta", {
    delta: { stop_reason: stopReason(choice!), stop_sequence: choice!.stop },
    usage: { output_tokens: choice!.tokens.length },
  });
  send("message_stop", {});
  reply.done();
}
