/** A model at an OpenAI-compatible HTTP endpoint. */
import { z } from "zod";
import { messageOf, UserError } from "../../shared/lib/errors.ts";

/** What a config says of the server. */
export const chatParams = {
  url: z.url().describe("Base address of an OpenAI-compatible server, e.g. `http://localhost:8000/v1`."),
  model: z.string().min(1).describe("The model's name on that server."),
  key: z
    .string()
    .min(1)
    .default("OPENAI_API_KEY")
    .describe("Environment variable that holds the key; if it is not set, no key is sent."),
  system: z.string().optional().describe("The system message."),
  timeout: z.number().positive().default(60).describe("Seconds for one request."),
  parallel: z.number().int().min(1).default(8).describe("Requests in flight at once."),
};
export type Chat = z.output<z.ZodObject<typeof chatParams>>;

interface ChatAsk {
  readonly samples: number;
  readonly max_tokens: number;
  readonly temperature: number;
  readonly top_p?: number;
  readonly stop?: readonly string[];
}

/** Who is asked, in the words of a message. */
export interface Asker {
  /** e.g. "The judge". */
  readonly who: string;
  readonly code: string;
  readonly action: string;
}

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** One choice of a completion. */
export interface ChatSample {
  readonly text: string;
  /** Whether `max_tokens` ended it. */
  readonly truncated: boolean;
  /** As the server counts; undefined: it does not. */
  readonly tokens: number | undefined;
}

/** As much of a chat completion as is read. */
const completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullable() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ completion_tokens: z.number() }).nullish(),
});

const unreachable = ({ who, code, action }: Asker, url: string, why: string, cause?: unknown): UserError =>
  new UserError(`${who} at ${url} did not answer: ${why}.`, { code, action, cause });

/** States by which a server says that the request is not as it wants it. */
const ofTheRequest: readonly number[] = [400, 413, 422];

const refused = ({ who, code }: Asker, url: string, why: string): UserError =>
  new UserError(`${who} at ${url} refused the request: ${why}.`, {
    code,
    action:
      "Read the server's message. If its context is too small, shorten the request or what fills it, lower `max_tokens`, or serve the model with a longer context.",
  });

const authorized = (key: string): Record<string, string> => {
  const secret = process.env[key];
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` };
};

async function received(
  where: string,
  request: RequestInit,
  seconds: number,
  asker: Asker,
): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(where, { ...request, signal: AbortSignal.timeout(seconds * 1000) });
    if (response.ok) return await response.json();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw unreachable(asker, where, messageOf(cause), error);
  }
  const said = (await response.text()).slice(0, 200);
  const why = `${response.status} ${response.statusText} ${said}`.trim();
  throw ofTheRequest.includes(response.status) ? refused(asker, where, why) : unreachable(asker, where, why);
}

const post = ({ url, key, timeout }: Chat, body: unknown, asker: Asker): Promise<unknown> =>
  received(
    `${url.replace(/\/+$/, "")}/chat/completions`,
    {
      method: "POST",
      headers: { "content-type": "application/json", ...authorized(key) },
      body: JSON.stringify(body),
    },
    timeout,
    asker,
  );

/**
 * One request, as many choices as `samples`: servers that ignore `n` are asked again.
 * @throws UserError where the server does not answer, or with something else than a chat completion
 */
export async function chatSamples(
  chosen: Chat,
  messages: readonly ChatMessage[],
  how: ChatAsk,
  asker: Asker,
): Promise<ChatSample[]> {
  const { samples, ...options } = how;
  const found: ChatSample[] = [];
  while (found.length < samples) {
    const n = samples - found.length;
    const answer = await post(chosen, { model: chosen.model, messages, n, ...options }, asker);
    const read = completion.safeParse(answer);
    if (!read.success) throw unreachable(asker, chosen.url, "the response is not a chat completion");
    const { choices, usage } = read.data;
    found.push(
      ...choices.map(({ message, finish_reason }) => ({
        text: message.content ?? "",
        truncated: finish_reason === "length",
        // A server counts all choices together.
        tokens: usage ? usage.completion_tokens / choices.length : undefined,
      })),
    );
  }
  return found.slice(0, samples);
}

/** The texts of `chatSamples`, asked with one message. */
export async function chatChoices(chosen: Chat, text: string, how: ChatAsk, asker: Asker): Promise<string[]> {
  const messages = [
    ...(chosen.system === undefined ? [] : [{ role: "system", content: chosen.system }]),
    { role: "user", content: text },
  ];
  return (await chatSamples(chosen, messages, how, asker)).map((sample) => sample.text);
}

/** The first model that a server serves. @throws UserError where it lists none */
export async function servedModel({ url, key, timeout }: Omit<Chat, "model">, asker: Asker): Promise<string> {
  const where = `${url.replace(/\/+$/, "")}/models`;
  const read = z
    .object({ data: z.array(z.object({ id: z.string() })).min(1) })
    .safeParse(await received(where, { headers: authorized(key) }, timeout, asker));
  if (!read.success) throw unreachable(asker, where, "the response lists no model");
  return read.data.data[0]!.id;
}

/** `work` on every item, a limited number at a time; results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  parallel: number,
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]!, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker));
  return results;
}

/** The server as somebody who is asked many things at once. */
export const asking =
  (chosen: Chat, asker: Asker) =>
  (requests: readonly string[], how: ChatAsk): Promise<string[][]> =>
    inParallel(requests, chosen.parallel, (text) => chatChoices(chosen, text, how, asker));
