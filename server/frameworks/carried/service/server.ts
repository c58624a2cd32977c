/** What the service answers over HTTP. */
import { Scoring } from "../../../analysis/rewardServer/scoring.ts";
import type { Answer, AnswerScorer, ScoredAnswer } from "../../../analysis/rewardChecks/answers.ts";
import { serveLoopback, type Answered, type LoopbackServer } from "../../../lib/http/loopbackServer.ts";
import type { Task } from "../../../core/task.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { NamedTask } from "./drawnStep.ts";
import type { JournaledCurriculum } from "./journaled.ts";
import { readDraw, readObserve, readRestore, readScore, type ScoreRequest } from "./requests.ts";
import { OutOfOrder } from "./servedCurriculum.ts";

export interface ServiceOptions {
  readonly port: number;
  readonly token: string;
  readonly curriculum: JournaledCurriculum;
  /** Names of the reward terms, and of those that are scored here. */
  readonly terms: { readonly all: readonly string[]; readonly scored: readonly string[] };
  /** Who scores them: it is prepared when it is first asked. */
  readonly rewards: () => Promise<AnswerScorer>;
  readonly log: (message: string) => void;
}

type Handler = (text: string) => Promise<Answered>;

export function serveCurriculum(options: ServiceOptions): Promise<LoopbackServer> {
  const { port, token, log } = options;
  const handlers = handlersOf(options);
  return serveLoopback({
    ...{ port, token, health: "/healthz", refused: log, code: "service-port" },
    refusal: (method, path) => {
      if (handlers.has(`${method} ${path}`)) return undefined;
      const others = [...handlers.keys()].filter((one) => one.endsWith(` ${path}`));
      if (others.length > 0) return [405, { error: `ask with ${others.join(" or ")}` }];
      return [404, { error: `there is no ${path}; there are ${[...handlers.keys()].join(", ")}` }];
    },
    answer: async ({ method, path, text }) => {
      try {
        return await handlers.get(`${method} ${path}`)!(text);
      } catch (error) {
        if (error instanceof UserError) return refused(error);
        throw error;
      }
    },
  });
}

function handlersOf({ curriculum, terms, rewards }: ServiceOptions): ReadonlyMap<string, Handler> {
  let made: Promise<{ readonly scorer: AnswerScorer; readonly scoring: Scoring }> | undefined;
  const scored = async (): Promise<NonNullable<Awaited<typeof made>>> => {
    made ??= rewards().then((scorer) => ({
      scorer,
      scoring: new Scoring(scorer, (prompt) => curriculum.taskOf(prompt)),
    }));
    // A reward that cannot be loaded is tried again at the next request.
    made.catch(() => (made = undefined));
    return made;
  };
  const reward: Handler = async (text) => (await scored()).scoring.answer(text);
  return new Map<string, Handler>([
    [
      "POST /draw",
      async (text) => {
        const request = readDraw(text);
        const { tasks, after, stage } = await curriculum.draw(request);
        const { step, round } = request;
        return [200, { step, round, stage, drawn_after: after, tasks: tasks.map(taskOf) }];
      },
    ],
    ["POST /observe", async (text) => [200, Object(await curriculum.observe(readObserve(text)))]],
    ["POST /restore", async (text) => [200, await curriculum.restore(readRestore(text))]],
    [
      "GET /state",
      async () => [200, { ...(await curriculum.state()), terms: terms.all, scored: terms.scored }],
    ],
    [
      "POST /score",
      async (text) => {
        const { answers } = readScore(text);
        const { scorer } = await scored();
        return [200, scoresOf(await scorer.score(answers.map(answerOf)))];
      },
    ],
    ["POST /reward", reward],
    ["POST /get_reward", reward],
  ]);
}

function answerOf({ task, response }: ScoreRequest["answers"][number]): Answer {
  const { id, task: canonical = id, answer, ...rest } = task;
  const own = { ...rest, id: canonical, ...(typeof answer === "string" && { answer }) };
  return { task: own, response, group: id };
}

/** One entry an answer, in their order; null: the term does not apply, or failed. */
function scoresOf(scored: readonly ScoredAnswer[]): object {
  const names = Object.keys(scored[0]?.terms ?? {});
  return {
    rewards: scored.map(({ reward }) => reward),
    terms: Object.fromEntries(names.map((name) => [name, scored.map(({ terms }) => terms[name] ?? null)])),
    errors: scored.map(({ errors }) => errors),
  };
}

/** A task as trainers need it. */
function taskOf({ id, arm, task, rollouts }: NamedTask): object {
  const { id: canonical, source, env, prompt, begin, answer, data }: Task = task;
  return { id, task: canonical, arm, source, env, prompt, begin, answer, data, rollouts };
}

/** 409: the service is at another step; 500: a disk or a reward; 400: what was asked. */
function refused(error: UserError): Answered {
  const { code = "service-request", action } = error.detail;
  const body = { error: error.message, code, action };
  if (error instanceof OutOfOrder) return [409, { ...body, expected: error.expected }];
  return [code.startsWith("service-") && code !== "service-state" ? 400 : 500, body];
}
