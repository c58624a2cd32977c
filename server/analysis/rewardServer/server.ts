/** A config's reward as a server on this machine, in the protocol in which OpenRLHF asks a remote reward model. */
import { serveLoopback, type Answered } from "../../lib/http/loopbackServer.ts";
import type { AnswerScorer } from "../rewardChecks/answers.ts";
import { Scoring } from "./scoring.ts";

const path = "/get_reward";

export interface RewardServerOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** That requests must send as `Authorization: Bearer`; undefined: none. */
  readonly token?: string;
  /** Called with what a request was refused for. */
  readonly refused?: (message: string) => void;
}

export interface RewardServer {
  readonly url: string;
  close(): Promise<void>;
}

function refusal(method: string, asked: string): Answered | undefined {
  if (method !== "POST") return [405, { error: `ask with POST ${path}` }];
  return asked === path || asked === "/" ? undefined : [404, { error: `there is only ${path}` }];
}

/** @param scorer prepared; it is the caller's to close. @throws UserError where the port cannot be had */
export async function serveReward(
  scorer: AnswerScorer,
  { port, token, refused }: RewardServerOptions,
): Promise<RewardServer> {
  const scoring = new Scoring(scorer);
  const server = await serveLoopback({
    ...{ port, token, health: "/health", refusal, refused, code: "reward-serve-port" },
    answer: ({ text }) => scoring.answer(text),
  });
  return { url: `http://127.0.0.1:${server.port}${path}`, close: () => server.close() };
}
