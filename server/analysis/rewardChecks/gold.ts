/** Whether the reward recognises each row's own reference answer: where it does not, that row can only teach what is wrong. */
import type { GoldCount } from "../../../shared/protocol/rewards.ts";
import { mean } from "../../../shared/lib/mean.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { decidingTerms, type AnswerScorer, type ScoredAnswer } from "./answers.ts";
import { checkedTasks, spread, type CheckedTask } from "./checkedTasks.ts";
import { goldForms, type GoldForm } from "./forms/goldForms.ts";
import { ownProcessTasks, type OwnProcessTasks } from "./ownProcess.ts";
import { spokenTags } from "./forms/spokenTags.ts";
import { traitsOf, type Trait } from "./forms/traits.ts";
import { checkFormat, type FormatFinding } from "./format/checkFormat.ts";
import { PromptForms } from "./format/promptForms.ts";
import { ownFile } from "./ownFiles.ts";

/** A row whose reference answer is no success. */
export interface GoldFailure extends Omit<CheckedTask, "task"> {
  readonly task: string;
  readonly answer: string;
  readonly response: string;
  readonly reward: number | null;
  readonly terms: Readonly<Record<string, number | null>>;
  readonly errors: Readonly<Record<string, string>>;
}

export interface GoldReport {
  /** How the answers were written: "after `####`". */
  readonly form: string;
  /** Tasks with a reference answer. */
  readonly checked: number;
  readonly passed: number;
  /** Tasks without one. */
  readonly without: number;
  /** What the term that decides gave most of those that passed; null where none passed. */
  readonly value: number | null;
  /** The most that an answer earned in all, where none passed; null: none earned more than 0. */
  readonly best: number | null;
  /** What those that passed earn on average: in all, and by each term that applies; null where none passed. */
  readonly earned: Earned | null;
  readonly failures: readonly GoldFailure[];
  readonly traits: readonly Trait[];
  /** Absent: no test runs in the program's own process, as far as the tests and the answers show. */
  readonly ownProcess?: OwnProcessTasks;
  /** Reference answers that succeed. */
  readonly passing: readonly string[];
  /** Terms that pay the format of the prompts less than another. */
  readonly format: readonly FormatFinding[];
}

export interface Earned {
  readonly reward: number;
  readonly terms: Readonly<Record<string, number>>;
}

/** Tasks by which the form is chosen. */
const tried = 64;

interface Tried {
  readonly form: GoldForm;
  readonly passed: number;
  /** The mean reward. */
  readonly reward: number;
}

/**
 * The form in which most reference answers succeed, of these the one that earns most; the first of equals, and that is what
 * the prompts show. undefined: no task has a reference answer.
 */
export async function goldFormOf(
  scorer: AnswerScorer,
  tasks: readonly CheckedTask[],
  prompts = new PromptForms(scorer.body),
): Promise<GoldForm | undefined> {
  const sample = spread(tasks, tried);
  let best: Tried | undefined;
  const spoken = spokenTags(scorer.body, (task) => prompts.of(task) !== undefined);
  for (const form of [prompts.plain, ...goldForms, spoken, ...prompts.variants]) {
    const isVariant = best !== undefined && "change" in form;
    if (isVariant && best!.passed > 0) break;
    const scored = await scorer.score(answersIn(form, sample).map(({ answer }) => answer));
    if (scored.length === 0) continue;
    const passed = scored.filter(({ success }) => success === true).length / sample.length;
    const reward = scored.reduce((sum, one) => sum + (one.reward ?? 0), 0) / sample.length;
    if (best === undefined || isBetter({ form, passed, reward }, best)) best = { form, passed, reward };
    if (passed === 1) break;
  }
  return best?.form;
}

const isBetter = (one: Tried, other: Tried): boolean =>
  one.passed > other.passed || (one.passed === other.passed && one.reward > other.reward + 1e-9);

const answersIn = (form: GoldForm, tasks: readonly CheckedTask[]) =>
  tasks.flatMap((checked) => {
    const response = form.of(checked.task);
    return response === undefined ? [] : [{ checked, answer: { task: checked.task, response } }];
  });

/**
 * Undefined where no task has a reference answer.
 * @param tasks the config's, where they have been read already
 */
export async function checkGold(
  config: RunConfig,
  scorer: AnswerScorer,
  tasks: readonly CheckedTask[] = checkedTasks(config, scorer.body),
): Promise<GoldReport | undefined> {
  scorer.causes.know(tasks);
  const prompts = new PromptForms(scorer.body);
  const form = await goldFormOf(scorer, tasks, prompts);
  if (form === undefined) return undefined;
  const answers = answersIn(form, tasks);
  const scored = await scorer.score(answers.map(({ answer }) => answer));
  const passed = scored.filter(({ success }) => success === true);
  const failed = scored.flatMap((one, i) =>
    one.success === true ? [] : [failure(answers[i]!.checked, one)],
  );
  const ownProcess = ownProcessTasks(scorer.body, tasks, scored);
  const passing = passed.map(({ task, response }) => task.answer ?? response);
  return {
    form: form.name,
    checked: answers.length,
    passed: passed.length,
    without: tasks.length - answers.length,
    value: commonest(passed.map((one) => decidingValue(scorer, one))),
    best: passed.length > 0 ? null : bestOf(scored),
    earned: earnedBy(passed),
    failures: failed,
    traits: traitsOf(
      failed.map(({ answer }) => answer),
      passing,
    ),
    ...(ownProcess && { ownProcess }),
    passing,
    format: await checkFormat(scorer, tasks, prompts),
  };
}

/** Of a sample of the tasks, by term of one's own. What rewards no answer and shows no other fault may be a penalty: it is left out. */
export async function goldCounts(
  scorer: AnswerScorer,
  tasks: readonly CheckedTask[],
): Promise<readonly GoldCount[]> {
  const prompts = new PromptForms(scorer.body);
  const sample = spread(tasks, tried);
  const form = await goldFormOf(scorer, sample, prompts);
  if (form === undefined) return [];
  const scored = await scorer.score(answersIn(form, sample).map(({ answer }) => answer));
  const underpaid = new Set((await checkFormat(scorer, sample, prompts)).map(({ term }) => term));
  return scorer.body.reward.terms.flatMap((term): readonly GoldCount[] => {
    const [file, { export: name }] = [ownFile(term), term.term.params];
    if (file === undefined || typeof name !== "string") return [];
    const own = scored.filter(({ terms, errors }) => terms[term.name] !== null || term.name in errors);
    const decides = (one: ScoredAnswer): boolean =>
      decidingTerms(scorer.body, one.task.source)[0]?.name === term.name;
    const rewarded = own.filter((one) =>
      decides(one) ? one.success === true : (one.terms[term.name] ?? 0) > 0,
    ).length;
    const isFault = underpaid.has(term.name) || own.some(decides);
    return own.length > 0 && (rewarded > 0 || isFault)
      ? [{ term: term.name, file, name, rewarded, of: own.length }]
      : [];
  });
}

function earnedBy(scored: readonly ScoredAnswer[]): Earned | null {
  if (scored.length === 0) return null;
  const values = (of: (one: ScoredAnswer) => number | null | undefined): readonly number[] =>
    scored.flatMap((one) => of(one) ?? []);
  const names = [...new Set(scored.flatMap(({ terms }) => Object.keys(terms)))];
  const terms = names.map((name) => [name, values((one) => one.terms[name])] as const);
  return {
    reward: mean(values(({ reward }) => reward)),
    terms: Object.fromEntries(
      terms.filter(([, own]) => own.length > 0).map(([name, own]) => [name, mean(own)]),
    ),
  };
}

function bestOf(scored: readonly ScoredAnswer[]): number | null {
  const most = scored.reduce((best, { reward }) => Math.max(best, reward ?? 0), 0);
  return most > 0 ? most : null;
}

const failure = ({ task, ...place }: CheckedTask, scored: ScoredAnswer): GoldFailure => ({
  ...place,
  task: task.id,
  answer: task.answer ?? scored.response,
  response: scored.response,
  reward: scored.reward,
  terms: scored.terms,
  errors: scored.errors,
});

/** The first of the deciding terms that applies. */
export const decidingValue = ({ body }: AnswerScorer, { task, terms }: ScoredAnswer): number | null =>
  decidingTerms(body, task.source)
    .map(({ name }) => terms[name] ?? null)
    .find((value) => value !== null) ?? null;

function commonest(values: readonly (number | null)[]): number | null {
  const counts = new Map<number, number>();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
