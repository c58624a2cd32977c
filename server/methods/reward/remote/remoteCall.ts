/** One request to a reward server that speaks OpenRLHF's protocol, and what its answer says of each rollout. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { messageOf } from "../../../../shared/lib/errors.ts";

export interface RemoteServer {
  readonly url: string;
  /** Environment variable of the token that is sent. */
  readonly key: string | undefined;
  /** Seconds for one request. */
  readonly timeout: number;
  /** Times that a request is made before it counts as failed. */
  readonly tries: number;
  /** Seconds between two of them. */
  readonly wait: number;
}

/** What is sent of a rollout. */
export interface RemoteQuery {
  /** Prompt and response. */
  readonly query: string;
  readonly prompt: string;
  readonly label: string;
}

export interface RemoteReward {
  readonly reward: number;
  /** Its score, where that differs, and `extra_logs`. */
  readonly components: Readonly<Record<string, number>>;
}

/** Why there is no answer, and whether the server itself said so. */
export class RemoteFailure extends Error {
  constructor(
    message: string,
    readonly answered: boolean,
  ) {
    super(message);
  }
}

const wrapped = z.union([z.number(), z.tuple([z.number()]), z.null()]);
const numbers = z.union([z.array(wrapped), wrapped]);
const answer = z.looseObject({
  rewards: numbers.optional(),
  scores: numbers.optional(),
  extra_logs: z.record(z.string(), z.unknown()).nullish(),
});
const answers = z.union([answer, z.array(answer)]);

const numberIn = (value: z.output<typeof wrapped>): number | null =>
  Array.isArray(value) ? value[0] : value;

/** Numbers for so many rollouts; undefined: they are others, or none. */
function listOf(value: unknown, count: number): (number | null)[] | undefined {
  const read = numbers.safeParse(value);
  if (!read.success) return undefined;
  const list = Array.isArray(read.data) ? read.data : [read.data];
  return list.length === count ? list.map(numberIn) : undefined;
}

/** What the answer says of each rollout; a text: why it cannot be read. */
export function rewardsIn(received: unknown, count: number): (RemoteReward | string)[] | string {
  const read = answers.safeParse(received);
  if (!read.success)
    return `its answer is not { rewards, scores, extra_logs }: ${JSON.stringify(received)?.slice(0, 120)}`;
  if (Array.isArray(read.data)) {
    if (read.data.length !== count) return `it answered for ${read.data.length} of ${count} rollouts`;
    return read.data.flatMap((one) => {
      const own = rewardsIn(one, 1);
      return typeof own === "string" ? [own] : own;
    });
  }
  const { rewards, scores, extra_logs: logs } = read.data;
  const list = listOf(rewards ?? scores, count);
  if (list === undefined)
    return `its \`rewards\` are not ${count} ${count === 1 ? "number" : "numbers"}: ${JSON.stringify(rewards ?? scores)?.slice(0, 120)}`;
  const columns = Object.entries({ ...logs, ...(rewards !== undefined && { score: scores }) }).flatMap(
    ([name, value]) => {
      const own = listOf(value, count);
      return own === undefined ? [] : [[name, own] as const];
    },
  );
  return list.map((reward, i) => {
    if (reward === null) return "it gave no number for the rollout";
    const components = columns.flatMap(([name, own]) => {
      const value = own[i]!;
      return value === null || (name === "score" && value === reward) ? [] : [[name, value] as const];
    });
    return { reward, components: Object.fromEntries(components) };
  });
}

const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

async function once(server: RemoteServer, body: string, signal: AbortSignal | undefined): Promise<unknown> {
  const secret = server.key === undefined ? undefined : process.env[server.key];
  const limit = AbortSignal.timeout(server.timeout * 1000);
  let response: Response;
  let text: string;
  try {
    response = await fetch(server.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      },
      body,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new RemoteFailure(limit.aborted ? `no answer within ${server.timeout} s` : messageOf(cause), false);
  }
  if (!response.ok) {
    const said = `${response.status} ${response.statusText} ${text.slice(0, 200)}`.trim();
    throw Object.assign(new RemoteFailure(said, true), { passing: isPassing(response.status) });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new RemoteFailure(`its answer is not JSON: ${text.slice(0, 120)}`, true);
  }
}

/** @throws RemoteFailure after `tries`, or at once where the server refuses the request */
export async function asked(
  server: RemoteServer,
  queries: readonly RemoteQuery[],
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const body = JSON.stringify({
    query: queries.map(({ query }) => query),
    prompts: queries.map(({ prompt }) => prompt),
    labels: queries.map(({ label }) => label),
  });
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(server, body, signal);
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
      const passing = !error.answered || ("passing" in error && error.passing === true);
      if (attempt >= server.tries || !passing) throw error;
    }
    await delay(server.wait * 1000, undefined, signal === undefined ? {} : { signal });
  }
}
