/** Every `gradus/*` request but hello and the feed: check the parameters, ask the store or the supervisor. */
import { existsSync, readFileSync } from "node:fs";
import * as protocol from "../../shared/protocol/protocol.ts";
import type { ResultOf } from "../../shared/protocol/protocol.ts";
import type { RemoteStore } from "../store/remote.ts";
import { answers, type Handlers } from "./answers.ts";
import { compare, type ComparedStore } from "./experiments/compare.ts";
import { boundaryBetween } from "./experiments/boundary.ts";
import { forecasts } from "./experiments/forecast.ts";
import { inThread } from "./experiments/inThread.ts";
import { setInConfig } from "./config/configSet.ts";
import { reviewConfig } from "./config/review.ts";
import { explain } from "./explain/explain.ts";
import { coverageOnce, rescoreOnce, sweepOnce } from "./rescore/rescoreOnce.ts";
import type { Rescorer } from "./rescore/rescorer.ts";
import {
  attackReward,
  checkReward,
  goldOfReward,
  pinReward,
  reportOnJudge,
  testReward,
} from "./rewardChecks/answer.ts";
import type { RewardChecker } from "./rewardChecks/rewardChecker.ts";
import { stageSteps } from "./config/stageSteps.ts";
import { dismiss } from "./verdict/dismissals.ts";
import type { Verdicts } from "./verdict/verdicts.ts";
import type { Supervisor } from "./runs/supervisor.ts";
import type { TokenReader } from "./tokens/tokenReader.ts";
import { pathOfAddress } from "../../shared/lib/fileAddress.ts";

export type { Handlers } from "./answers.ts";

export interface Daemon {
  status(): Promise<ResultOf<typeof protocol.daemonStatus>>;
  /** Ends the daemon once the answer is out. */
  shutdown(): void;
}

export function handlersOf(
  remote: RemoteStore,
  supervisor: Supervisor,
  rescorer: Rescorer,
  verdicts: Verdicts,
  checker: RewardChecker,
  tokens: TokenReader,
  daemon: Daemon,
): Handlers {
  return {
    ...answers(protocol.daemonStatus, () => daemon.status()),
    ...answers(protocol.daemonShutdown, async ({ force }) => {
      const live = supervisor.liveRuns;
      if (live > 0 && !force)
        return { accepted: false, reason: live === 1 ? "a run is live" : `${live} runs are live` };
      daemon.shutdown();
      return { accepted: true };
    }),
    ...answers(protocol.runsStart, (parameters) => supervisor.start(parameters)),
    ...answers(protocol.runsImport, (parameters) => supervisor.followFolder(parameters)),
    ...answers(protocol.runsControl, (parameters) => supervisor.control(parameters)),
    ...answers(protocol.runsResume, (parameters) => supervisor.resume(parameters)),
    ...answers(protocol.runsDelete, (parameters) => supervisor.delete(parameters)),
    ...answers(protocol.runsList, async (parameters) => {
      const { runs, ...rest } = await remote.call("list", parameters);
      return { ...rest, runs: runs.map((run) => supervisor.seen(run)) };
    }),
    ...answers(protocol.runsShow, async (parameters) =>
      supervisor.seen(await remote.call("show", parameters)),
    ),
    ...answers(protocol.runsFork, async (parameters) =>
      supervisor.fork(await remote.call("show", { run: parameters.run }), parameters),
    ),
    ...answers(protocol.runsGc, (parameters) => supervisor.collect(parameters)),
    ...answers(protocol.runsMark, ({ run, ...marks }) => supervisor.mark(run, marks)),
    ...answers(protocol.runsCompare, (parameters) => compare(comparedStore(remote), parameters)),
    ...answers(protocol.runsBoundary, (parameters) =>
      boundaryBetween(comparedStore(remote), parameters, inThread),
    ),
    ...answers(protocol.runsForecast, (parameters) => forecasts(comparedStore(remote), parameters, inThread)),
    ...answers(protocol.runsVerdict, (parameters) => verdicts.of(parameters)),
    ...answers(protocol.runsDismiss, async (parameters) => {
      const { verdict: found } = await verdicts.of({ run: parameters.run });
      return dismiss(remote, parameters, found);
    }),
    ...answers(protocol.metricsNames, (parameters) => remote.call("names", parameters)),
    ...answers(protocol.metricsSeries, (parameters) => remote.call("series", parameters)),
    ...answers(protocol.groupsQuery, (parameters) => remote.call("groups", parameters)),
    ...answers(protocol.curriculumQuery, (parameters) => remote.call("curriculum", parameters)),
    ...answers(protocol.rolloutsQuery, (parameters) => remote.call("rollouts", parameters)),
    ...answers(protocol.rolloutsSearch, (parameters) => remote.call("search", parameters)),
    ...answers(protocol.rolloutsWhy, (parameters) => explain(remote, parameters)),
    ...answers(protocol.rolloutsTokens, (parameters) => tokens.read(parameters)),
    ...answers(protocol.eventsQuery, (parameters) => remote.call("events", parameters)),
    ...answers(protocol.rewardErrors, (parameters) => remote.call("rewardErrors", parameters)),
    ...answers(protocol.evaluationsQuery, (parameters) => remote.call("evaluations", parameters)),
    ...answers(protocol.tasksQuery, (parameters) => remote.call("tasks", parameters)),
    ...answers(protocol.matrixQuery, (parameters) => remote.call("matrix", parameters)),
    ...answers(protocol.rescore, (parameters) => rescoreOnce(remote, rescorer, parameters)),
    ...answers(protocol.rescoreSweep, (parameters) => sweepOnce(remote, rescorer, parameters)),
    ...answers(protocol.rewardCheck, (parameters) => checkReward(remote, checker, parameters)),
    ...answers(protocol.rewardGold, (parameters) => goldOfReward(checker, parameters)),
    ...answers(protocol.rewardAttack, (parameters, token) => attackReward(checker, parameters, token)),
    ...answers(protocol.rewardPin, (parameters) => pinReward(remote, checker, parameters)),
    ...answers(protocol.rewardTest, (parameters) => testReward(checker, parameters)),
    ...answers(protocol.curriculumTest, ({ files }) => checker.simulate(files)),
    ...answers(protocol.judgeDraw, (parameters) => remote.call("judgeDraw", parameters)),
    ...answers(protocol.judgeReport, (parameters) => reportOnJudge(checker, parameters)),
    ...answers(protocol.rewardCoverage, (parameters) => coverageOnce(remote, rescorer, parameters)),
    ...answers(protocol.configSet, (parameters) => Promise.resolve({ text: setInConfig(parameters) })),
    ...answers(protocol.configReview, async ({ run, text }) => {
      const { evaluations } = await remote.call("evaluations", { run, tasks: true });
      return reviewConfig(await remote.call("show", { run }), evaluations, text);
    }),
    ...answers(protocol.stageSteps, async ({ run, ...change }) =>
      stageSteps(await remote.call("show", { run }), change),
    ),
    ...answers(protocol.configLens, async ({ uri }) => {
      const file = pathOfAddress(uri);
      return { uri, line: firstLine(file), ...(await remote.call("lens", file)) };
    }),
  };
}

const comparedStore = (remote: RemoteStore): ComparedStore => ({
  show: (parameters) => remote.call("show", parameters),
  names: (parameters) => remote.call("names", parameters),
  series: (parameters) => remote.call("series", parameters),
  evaluations: (parameters) => remote.call("evaluations", parameters),
});

/** Where a config's first key is: the lens is above it. */
function firstLine(file: string): number {
  if (!existsSync(file)) return 0;
  return Math.max(
    0,
    readFileSync(file, "utf8")
      .split("\n")
      .findIndex((line) => /^[^\s#%-]/.test(line)),
  );
}
