/** A config's first step with the real model and the real reward, and without training: what the groups would teach. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import type { Clock } from "../../core/basics.ts";
import { valueAt } from "../../core/schedule.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Group } from "../../core/rollouts.ts";
import type { Task } from "../../core/task.ts";
import {
  chatSamples,
  inParallel,
  servedModel,
  type Asker,
  type Chat,
  type ChatMessage,
} from "../../lib/chatCompletions.ts";
import { randomStream } from "../../lib/random.ts";
import { AnswerScorer, type Answer, type ScoredAnswer, type SkippedTerm } from "../rewardChecks/answers.ts";
import { noModels } from "../rescore/noModels.ts";

export interface RehearsalOptions {
  /** Base address of an OpenAI-compatible server. */
  readonly url: string;
  /** Default: the first that the server lists. */
  readonly model?: string;
  readonly prompts: number;
}

/** Of the groups: how many were all right, mixed, all wrong, and how many the reward could not decide. */
interface Outcomes {
  readonly all_right: number;
  readonly mixed: number;
  readonly all_wrong: number;
  readonly unknown: number;
}

interface ArmMix extends Outcomes {
  readonly arm: string;
  /** Share of the first step's draws. */
  readonly share: number;
  /** Successes among its rollouts; null: none could be decided. */
  readonly success: number | null;
}

interface TermRehearsal {
  readonly term: string;
  /** Over the rollouts that it applies to; null: it applies to none. */
  readonly mean: number | null;
  readonly errors: readonly string[];
  readonly seconds_per_rollout: number;
}

export interface Rehearsal {
  readonly url: string;
  readonly model: string;
  readonly prompts: number;
  readonly group: number;
  readonly groups: Outcomes;
  /** Groups that the config's admission lets train. */
  readonly admitted: number;
  /** Share of the rollouts that `rollout.max_tokens` cut off. */
  readonly truncated: number;
  /** Mean tokens of a response, as the server counts; null: it does not. */
  readonly length: number | null;
  readonly reward: number | null;
  readonly terms: readonly TermRehearsal[];
  readonly arms: readonly ArmMix[];
  readonly skipped: readonly SkippedTerm[];
  readonly seconds: { readonly generation: number; readonly reward: number };
  readonly examples: readonly {
    readonly prompt: string;
    readonly response: string;
    readonly reward: number | null;
  }[];
}

const asker: Asker = {
  who: "The endpoint",
  code: "rehearsal-endpoint",
  action: "Check the address, that the server runs, and that it serves /chat/completions.",
};
/** Requests in flight at once, and seconds for one of them. */
const [parallel, timeout] = [16, 600];

const start: Clock = { step: 0, stageStep: 0 };

interface Generated {
  readonly answers: readonly Answer[];
  readonly truncated: number;
  readonly tokens: readonly number[];
}

/** @throws UserError where the endpoint does not answer, or a reward cannot be loaded */
export async function rehearse(config: RunConfig, options: RehearsalOptions): Promise<Rehearsal> {
  const scorer = new AnswerScorer(config, { which: "first" });
  const { body } = scorer;
  const server = { url: options.url, key: "OPENAI_API_KEY", timeout, parallel };
  try {
    await scorer.prepare();
    const chat: Chat = { ...server, model: options.model ?? (await servedModel(server, asker)) };
    const curriculum = curriculumOf(config, body);
    const drawn = await curriculum.draw(options.prompts, randomStream(config.seed, "rehearsal"), start);
    const began = performance.now();
    const generated = await inParallel(drawn, parallel, ({ task }, at) => generate(chat, body, task, at));
    const generation = (performance.now() - began) / 1000;
    const answers = generated.flatMap((one) => one.answers);
    const scored = await scorer.score(answers);
    const groups = drawn.map(({ arm }, i) => ({
      arm,
      rollouts: scored.slice(i * body.rollout.group, (i + 1) * body.rollout.group),
    }));
    const tokens = generated.flatMap((one) => one.tokens);
    return {
      url: options.url,
      model: chat.model,
      prompts: drawn.length,
      group: body.rollout.group,
      groups: outcomesOf(groups),
      admitted: groups.filter(({ arm, rollouts }) => curriculum.admit(groupOf(arm, rollouts)).admitted)
        .length,
      truncated: generated.reduce((sum, one) => sum + one.truncated, 0) / Math.max(1, answers.length),
      length: meanOrNull(tokens),
      reward: meanOrNull(scored.flatMap(({ reward }) => reward ?? [])),
      terms: termsOf(scorer, scored),
      arms: armsOf(groups),
      skipped: scorer.skipped,
      seconds: { generation, reward: [...scorer.seconds.values()].reduce((sum, each) => sum + each, 0) },
      examples: scored
        .slice(0, 4)
        .map(({ task, response, reward }) => ({ prompt: task.prompt, response, reward })),
    };
  } finally {
    await scorer.close();
  }
}

function curriculumOf({ seed }: RunConfig, body: StageBody): Curriculum {
  const context = contextOf(body, { random: randomStream(seed, "rehearsal"), models: noModels });
  return new Curriculum(body.curriculum, openSources(body.tasks, context), context);
}

async function generate(chat: Chat, { rollout }: StageBody, task: Task, at: number): Promise<Generated> {
  const { group, max_tokens, temperature, top_p, stop } = rollout;
  const how = {
    samples: group,
    max_tokens,
    temperature: valueAt(temperature, start),
    ...(top_p < 1 && { top_p }),
    ...(stop.length > 0 && { stop }),
  };
  const samples = await chatSamples(chat, messagesOf(task, rollout.system), how, asker);
  return {
    answers: samples.map(({ text, truncated }) => ({
      task,
      response: text,
      finish: truncated ? "length" : "stop",
      group: `${at}`,
    })),
    truncated: samples.filter(({ truncated }) => truncated).length,
    tokens: samples.flatMap(({ tokens }) => tokens ?? []),
  };
}

/** A conversation stays one, as TRL's and verl's data hold prompts; any other prompt is the user's message. */
function messagesOf({ prompt, data }: Task, system: string | undefined): ChatMessage[] {
  const written = data["prompt"];
  const messages = Array.isArray(written) ? written.flatMap(messageOf) : [];
  if (messages.length > 0) return messages;
  return [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    { role: "user", content: prompt },
  ];
}

function messageOf(message: unknown): ChatMessage[] {
  if (typeof message !== "object" || message === null || !("role" in message) || !("content" in message))
    return [];
  const { role, content } = message;
  return typeof role === "string" && typeof content === "string" ? [{ role, content }] : [];
}

interface RehearsedGroup {
  readonly arm: string;
  readonly rollouts: readonly ScoredAnswer[];
}

/** As admission sees it: rollouts without a reward are left out. */
function groupOf(arm: string, rollouts: readonly ScoredAnswer[]): Group {
  const known = rollouts.filter(({ reward }) => reward !== null);
  return {
    task: rollouts[0]!.task,
    arm,
    rewards: Float64Array.from(known, ({ reward }) => reward ?? 0),
    advantages: new Float64Array(0),
    successes: known.filter(({ success }) => success === true).length,
    answers: known.map(({ response, success }) => ({ response, right: success === true })),
    lengths: Float64Array.from(known, ({ response }) => [...response].length),
  };
}

function outcomesOf(groups: readonly RehearsedGroup[]): Outcomes {
  const outcomes = groups.map(({ rollouts }) => {
    const known = rollouts.filter(({ success }) => success !== null);
    const right = known.filter(({ success }) => success === true).length;
    if (known.length === 0) return "unknown";
    return right === known.length ? "all_right" : right === 0 ? "all_wrong" : "mixed";
  });
  const count = (name: keyof Outcomes): number => outcomes.filter((one) => one === name).length;
  return {
    all_right: count("all_right"),
    mixed: count("mixed"),
    all_wrong: count("all_wrong"),
    unknown: count("unknown"),
  };
}

/** In the order of their shares. */
function armsOf(groups: readonly RehearsedGroup[]): ArmMix[] {
  const arms = [...new Set(groups.map(({ arm }) => arm))];
  return arms
    .map((arm) => {
      const own = groups.filter((group) => group.arm === arm);
      const successes = own.flatMap(({ rollouts }) => rollouts.flatMap(({ success }) => success ?? []));
      return {
        arm,
        share: own.length / groups.length,
        success: meanOrNull(successes.map(Number)),
        ...outcomesOf(own),
      };
    })
    .sort((a, b) => b.share - a.share);
}

const termsOf = (scorer: AnswerScorer, scored: readonly ScoredAnswer[]): TermRehearsal[] =>
  scorer.body.reward.terms
    .filter(({ name }) => !scorer.skipped.some(({ term }) => term === name))
    .map(({ name }) => ({
      term: name,
      mean: meanOrNull(scored.flatMap(({ terms }) => terms[name] ?? [])),
      errors: [...new Set(scored.flatMap(({ errors }) => errors[name] ?? []))],
      seconds_per_rollout: (scorer.seconds.get(name) ?? 0) / Math.max(1, scored.length),
    }));
