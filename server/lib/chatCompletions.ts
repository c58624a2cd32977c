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
}

/** Who is asked, in the words of a message. */
export interface Asker {
  /** e.g. "The judge". */
  readonly who: string;
  readonly code: string;
  readonly action: string;
}

/** As much of a chat completion as is read. */
const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1),
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

async function post({ url, key, timeout }: Chat, body: unknown, asker: Asker): Promise<unknown> {
  const secret = process.env[key];
  const where = `${url.replace(/\/+$/, "")}/chat/completions`;
  let response: Response;
  try {
    response = await fetch(where, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeout * 1000),
    });
    if (response.ok) return await response.json();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw unreachable(asker, where, messageOf(cause), error);
  }
  const said = (await response.text()).slice(0, 200);
  const why = `${response.status} ${response.statusText} ${said}`.trim();
  throw ofTheRequest.includes(response.status) ? refused(asker, where, why) : unreachable(asker, where, why);
}

/**
 * One request, as many choices as `samples`: servers that ignore `n` are asked again.
 * @throws UserError where the server does not answer, or with something else than a chat completion
 */
export async function chatChoices(chosen: Chat, text: string, how: ChatAsk, asker: Asker): Promise<string[]> {
  const messages = [
    ...(chosen.system === undefined ? [] : [{ role: "system", content: chosen.system }]),
    { role: "user", content: text },
  ];
  const found: string[] = [];
  while (found.length < how.samples) {
    const { max_tokens, temperature } = how;
    const n = how.samples - found.length;
    const answer = await post(chosen, { model: chosen.model, messages, n, max_tokens, temperature }, asker);
    const read = completion.safeParse(answer);
    if (!read.success) throw unreachable(asker, chosen.url, "the response is not a chat completion");
    found.push(...read.data.choices.map(({ message }) => message.content ?? ""));
  }
  return found.slice(0, how.samples);
}

/** `work` on every item, a limited number at a time; results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  parallel: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]!);
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
