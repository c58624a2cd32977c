/** Tests of a reward, one a line of a `*.reward.test.jsonl`: a rollout, and what a term must give it. */
import { UserError } from "../../../shared/lib/errors.ts";
import { expectation, testEnding, type Expectation } from "../../../shared/rollouts/expectation.ts";
import { parseRollout, type RolloutRow, type RowPlace } from "../../../shared/rollouts/rollouts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { parseShallow } from "../../../shared/lib/json.ts";
import { jsonLines } from "../../lib/jsonLines.ts";
import type { HoleExample } from "./attackTasks.ts";
import { recordOf } from "../recorded.ts";
import type { AnswerScorer, ScoredAnswer } from "./answers.ts";

export interface RewardTest {
  readonly place: RowPlace;
  readonly row: ReturnType<typeof parseRollout>;
  readonly expect: Expectation;
}

export interface RewardTestResult {
  readonly place: RowPlace;
  readonly term: string | undefined;
  readonly value: number | null;
  readonly response: string;
  /** What is wrong; undefined: it passed. */
  readonly failure: string | undefined;
}

/** A line needs neither step, group nor index: its own number distinguishes it. */
function parse(text: string, place: RowPlace): RewardTest {
  let value: unknown;
  try {
    value = parseShallow(text);
  } catch (error) {
    throw refusal(place, "not JSON", error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refusal(place, "a line must be a JSON object");
  const { expect, ...written } = value as { readonly expect?: unknown };
  const parsed = expectation.safeParse(expect);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const key = ["expect", ...(issue?.path ?? [])].join(".");
    throw refusal(place, `\`${key}\`: ${issue?.message ?? "is missing"}`);
  }
  const row = parseRollout(
    JSON.stringify({ step: 0, group: String(place.line), index: 0, ...written }),
    place,
  );
  if (row.response === undefined) throw refusal(place, 'the test has no "response"');
  return { place, row, expect: parsed.data };
}

const refusal = (place: RowPlace, message: string, cause?: unknown): UserError =>
  new UserError(message, {
    ...place,
    character: 0,
    code: "reward-test-line",
    cause,
    action: 'Write {"task": …, "response": …, "expect": {"term": "correct", "at_least": 1}} on each line.',
  });

/** @throws UserError naming the line that is no test */
export const readRewardTests = (file: string): Promise<RewardTest[]> =>
  jsonLines(file, parse, {
    what: "reward tests",
    code: "reward-tests-missing",
    action: `Check the path: tests are files that end with ${testEnding}.`,
  });

/** A line of a test file that fails as long as an attack's answer pleases the reward. @param term that decides a success */
export function testOf({ task, response, gold, wrong }: HoleExample, term: string | undefined): string {
  const { id, env, prompt, answer, data } = task;
  const about = { prompt, task: { id, env, data: answer === undefined ? data : { answer, ...data } } };
  return JSON.stringify(
    gold === undefined
      ? { ...about, response, expect: { ...(term !== undefined && { term }), at_most: wrong } }
      : { ...about, response: gold, expect: { beats: response } },
  );
}

/** A line of a test file that holds a recorded rollout to what a person expects of its reward. */
export function pinnedTest(row: RolloutRow, expect: Expectation): string {
  const { run, step, group, index, task = {}, prompt, response, finish = "stop" } = row;
  const { id, env, arm, answer, data = {} } = task;
  return JSON.stringify({
    run,
    step,
    group,
    index,
    prompt,
    task: { id, env, arm, data: answer === undefined ? data : { answer, ...data } },
    response,
    ...(finish !== "stop" && { finish }),
    expect,
  });
}

/** Whether a config has all the terms that tests name. */
export const hasTerms = ({ reward }: StageBody, tests: readonly RewardTest[]): boolean =>
  tests.every(({ expect: { term } }) => term === undefined || reward.terms.some(({ name }) => name === term));

export async function runRewardTests(
  tests: readonly RewardTest[],
  scorer: AnswerScorer,
): Promise<RewardTestResult[]> {
  const answers = tests.map(({ row }) => ({
    task: recordOf(row, scorer.body.tasks).task,
    response: row.response ?? "",
    ...(row.finish !== undefined && { finish: row.finish }),
  }));
  const scored = await scorer.score(answers);
  const rivals = tests.flatMap(({ expect: { beats } }, i) =>
    beats === undefined ? [] : [{ i, answer: { task: answers[i]!.task, response: beats } }],
  );
  const beaten = await scorer.score(rivals.map(({ answer }) => answer));
  const rivalOf = new Map(rivals.map(({ i }, at) => [i, beaten[at]!]));
  return tests.map((test, i) => result(test, scored[i]!, rivalOf.get(i)));
}

const valueOf = ({ terms, reward }: ScoredAnswer, term: string | undefined): number | null =>
  term === undefined ? reward : (terms[term] ?? null);

function result(
  { place, row, expect }: RewardTest,
  scored: ScoredAnswer,
  rival: ScoredAnswer | undefined,
): RewardTestResult {
  const { term } = expect;
  const value = valueOf(scored, term);
  return {
    place,
    term,
    value,
    response: row.response ?? "",
    failure: failureOf(expect, scored, value, rival),
  };
}

const short = (value: number): string => String(Number(value.toPrecision(6)));

function failureOf(
  { term, at_least: least, at_most: most, beats }: Expectation,
  scored: ScoredAnswer,
  value: number | null,
  rival: ScoredAnswer | undefined,
): string | undefined {
  const name = term === undefined ? "the reward" : `\`${term}\``;
  if (value === null) {
    const errors = Object.entries(scored.errors).filter(([failed]) => term === undefined || failed === term);
    const [first] = errors;
    return first === undefined ? `${name} does not apply` : `${name} fails: ${first[1]}`;
  }
  if (least !== undefined && value < least) return `${name} is ${short(value)}, below ${short(least)}`;
  if (most !== undefined && value > most) return `${name} is ${short(value)}, above ${short(most)}`;
  if (rival === undefined) return undefined;
  const other = valueOf(rival, term);
  return other !== null && value > other
    ? undefined
    : `${name} is ${short(value)}, not above the ${other === null ? "missing value" : short(other)} of ${JSON.stringify(beats)}`;
}
