/** `gradus reward FILE --serve`: the reward as a server, until it is stopped. */
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { serveReward } from "../../analysis/rewardServer/server.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { complain, print, printJson } from "../command.ts";

interface ServeOptions {
  readonly port: number;
  /** Environment variable of the token. */
  readonly key?: string;
  readonly json?: boolean;
}

function tokenOf(key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  const token = process.env[key];
  if (token !== undefined && token !== "") return token;
  throw new UserError(`the environment variable ${key} holds no token`, {
    code: "reward-serve-key",
    action: `Set it, e.g. export ${key}=…, or leave --key out.`,
  });
}

/** Messages that are printed; a broken reward says the same at every request. */
const most = 20;

export async function serveUntilStopped(config: RunConfig, options: ServeOptions): Promise<void> {
  const token = tokenOf(options.key);
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    const said = new Set<string>();
    const server = await serveReward(scorer, {
      port: options.port,
      ...(token !== undefined && { token }),
      refused: (message) => {
        if (said.has(message) || said.size >= most) return;
        said.add(message);
        complain(message);
      },
    });
    if (options.json === true) printJson({ type: "serving", url: server.url });
    else {
      print(`serving the reward of ${config.name} at ${server.url}; Ctrl+C ends it`);
      print(`OpenRLHF: --reward.remote_url ${server.url}`);
    }
    await new Promise<void>((done) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
    });
    await server.close();
  } finally {
    await scorer.close();
  }
}
