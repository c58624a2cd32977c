/** Requests in OpenRLHF's protocol as answers to score, and scored answers as its replies. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Json } from "../../../shared/lib/json.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { RolloutRecord } from "../../core/rollouts.ts";
import type { Task } from "../../core/task.ts";
import { withRow } from "../imported/withData.ts";
import type { Answer, ScoredAnswer } from "../rewardChecks/answers.ts";

const texts = z.union([z.string(), z.array(z.string())]);
/** What an exported project says of a task, beyond the protocol: its source and its fields. */
const givenTask = z.object({ source: z.string().nullish(), data: z.record(z.string(), z.json()) });
const schema = z.looseObject({
  query: texts,
  tasks: z.array(givenTask).optional(),
  /** A name: what this term gives is asked for, and not the reward. */
  term: z.string().optional(),
  prompts: texts.optional(),
  labels: z.union([z.array(z.unknown()), z.string(), z.null()]).optional(),
});

export interface RewardRequest {
  readonly queries: readonly string[];
  readonly prompts: readonly string[];
  readonly labels: readonly unknown[];
  readonly tasks: readonly z.output<typeof givenTask>[];
  readonly term: string | undefined;
}

const listed = <One>(value: One | readonly One[] | undefined): readonly One[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly One[]) : [value as One];

/** A text: what is wrong with it. */
export function requestOf(body: string): RewardRequest | string {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return "the body is not JSON";
  }
  const read = schema.safeParse(json);
  if (!read.success) return "the body is not { query, prompts, labels } with texts";
  const queries = listed<string>(read.data.query);
  const prompts = listed<string>(read.data.prompts);
  const labels = listed<unknown>(read.data.labels ?? undefined);
  const { tasks = [] } = read.data;
  for (const [name, list] of Object.entries({ prompts, labels, tasks }))
    if (list.length > 0 && list.length !== queries.length)
      return `there are ${list.length} ${name} for ${queries.length} queries`;
  return { queries, prompts, labels, tasks, term: read.data.term };
}

/** Special tokens at an end, as tokenizers of common models write them. */
const ends = /(?:\s*(?:<\|[\w]+\|>|<\/s>|<eos>|<end_of_turn>|<｜[^｜]*｜>))+\s*$/;

/** What follows the prompt, without the tokens that ended it; undefined: the query does not hold the prompt. */
export function responseIn(query: string, prompt: string): string | undefined {
  const at = query.indexOf(prompt);
  return at < 0 ? undefined : query.slice(at + prompt.length).replace(ends, "");
}

const answerOf = (label: unknown): string | undefined => {
  if (label === undefined || label === null || label === "") return undefined;
  return typeof label === "string" ? label : JSON.stringify(label);
};

/** Which task a prompt asks, as far as whoever serves knows. */
export type FindTask = (prompt: string) => Task | undefined;

/** What is known of an answer's task. */
interface Known {
  readonly label: unknown;
  readonly given: RewardRequest["tasks"][number] | undefined;
  readonly found: Task | undefined;
}

/** The task that a prompt asks: as it is given, or with the fields of the data row whose text it holds, if the config has one. */
function taskOf(prompt: string, { label, given, found }: Known, { tasks }: StageBody): Task {
  if (found !== undefined) return found;
  const id = createHash("sha256")
    .update(JSON.stringify([prompt, label ?? null]))
    .digest("hex")
    .slice(0, 16);
  const answer = answerOf(label);
  const own = { id, prompt, source: "", env: "openrlhf", ...(answer !== undefined && { answer }) };
  const source = tasks.find(({ name }) => name === given?.source)?.name;
  if (given !== undefined && source !== undefined) return { ...own, source, data: given.data };
  const data: Record<string, Json> = answer === undefined ? {} : { answer };
  const record: RolloutRecord = {
    ...{ task: { ...own, data }, arm: "", group: id, index: 0, prompt, response: "" },
    ...{ finish: "stop", source: "dataset", use: "evaluate" },
  };
  const row = withRow(record, tasks).task;
  return row.source === "" ? { ...row, source: tasks[0]?.name ?? "" } : row;
}

/**
 * The answers that a request asks about; a text: why it cannot be scored. Answers to one prompt in one request are a group.
 * @param name of the request, so that groups of several do not mix
 */
export function answersOf(
  request: RewardRequest,
  body: StageBody,
  name: string,
  find: FindTask = () => undefined,
): Answer[] | string {
  const answers: Answer[] = [];
  for (const [i, query] of request.queries.entries()) {
    const prompt = request.prompts[i] ?? "";
    const response = responseIn(query, prompt);
    if (response === undefined) return `query ${i} does not hold its prompt, so its response is not known`;
    const known = { label: request.labels[i], given: request.tasks[i], found: find(prompt) };
    const task = taskOf(prompt, known, body);
    answers.push({ task, response, group: `${name} ${task.id}` });
  }
  return answers;
}

export interface RewardReply {
  readonly rewards: readonly number[];
  readonly scores: readonly number[];
  readonly extra_logs: Readonly<Record<string, readonly number[]>>;
}

export interface TermReply {
  /** null: the term does not apply, or fails. */
  readonly rewards: readonly (number | null)[];
  readonly errors: readonly string[];
}

/** One term of a reward; a text: there is none of that name. */
export function termReply(scored: readonly ScoredAnswer[], term: string): TermReply | string {
  if (scored.some(({ terms }) => !(term in terms))) return `the reward has no term ${term}`;
  return {
    rewards: scored.map(({ terms }) => terms[term] ?? null),
    errors: [...new Set(scored.flatMap(({ errors }) => errors[term] ?? []))],
  };
}

/** The protocol has no place for an error: where an answer has no reward, the reply is why. */
export function replyOf(scored: readonly ScoredAnswer[]): RewardReply | string {
  const rewards: number[] = [];
  for (const [i, { reward, errors }] of scored.entries()) {
    if (reward === null) {
      const why = Object.entries(errors).map(([term, message]) => `${term}: ${message}`);
      return `query ${i} has no reward: ${why.join("; ") || "no reward term applies to it"}`;
    }
    rewards.push(reward);
  }
  const names = [...new Set(scored.flatMap(({ terms }) => Object.keys(terms)))];
  const logs = names.flatMap((name) => {
    const values = scored.map(({ terms }) => terms[name] ?? null);
    return values.every((one) => one !== null) ? [[name, values] as const] : [];
  });
  const successes = scored.map(({ success }) => success);
  return {
    rewards,
    scores: successes.every((one) => one !== null) ? successes.map(Number) : rewards,
    extra_logs: Object.fromEntries(logs),
  };
}
