/**
 * Every request and notification that is not plain LSP, by subject in `protocol/`. Plain descriptors: a name, types, and the zod schema by which
 * the daemon checks parameters at its boundary. Not `RequestType` objects: those of another copy of vscode-jsonrpc
 * are refused at run time ("Unknown parameter structure auto").
 */
import { subscribe, unsubscribe } from "./changes.ts";
import {
  configLens,
  configReview,
  configSet,
  rescore,
  rescoreSweep,
  rewardCoverage,
  stageSteps,
} from "./config.ts";
import { curriculumQuery, curriculumTest, groupsQuery, tasksQuery } from "./curriculum.ts";
import { daemonShutdown, daemonStatus, hello } from "./daemon.ts";
import { judgeDraw, judgeReport } from "./judge.ts";
import {
  eventsQuery,
  evaluationsQuery,
  matrixQuery,
  metricsNames,
  metricsSeries,
  rewardErrors,
  rolloutsQuery,
  rolloutsSearch,
  rolloutsWhy,
} from "./recorded.ts";
import { rewardAttack, rewardCheck, rewardGold, rewardPin, rewardTest } from "./rewards.ts";
import {
  runsBoundary,
  runsCompare,
  runsControl,
  runsDelete,
  runsForecast,
  runsFork,
  runsGc,
  runsImport,
  runsList,
  runsMark,
  runsDismiss,
  runsResume,
  runsShow,
  runsStart,
  runsVerdict,
} from "./runs.ts";
import { rolloutsTokens } from "./tokens.ts";

export type { InputOf, Notification, ParamsOf, Request, ResultOf } from "./descriptor.ts";
export * from "./changes.ts";
export * from "./config.ts";
export * from "./curriculum.ts";
export * from "./daemon.ts";
export * from "./judge.ts";
export * from "./recorded.ts";
export * from "./rewards.ts";
export * from "./runs.ts";
export * from "./tokens.ts";
export { liveStatuses, type RunStatus } from "./runStatus.ts";

/** Grows when a change is not additive. */
export const protocolVersion = 1;

export const requests = {
  hello,
  daemonStatus,
  daemonShutdown,
  runsStart,
  runsImport,
  runsList,
  runsShow,
  runsVerdict,
  runsDismiss,
  runsControl,
  runsResume,
  runsDelete,
  runsFork,
  runsGc,
  runsMark,
  runsCompare,
  runsBoundary,
  runsForecast,
  metricsNames,
  metricsSeries,
  groupsQuery,
  curriculumQuery,
  tasksQuery,
  rolloutsQuery,
  rolloutsSearch,
  rolloutsWhy,
  rolloutsTokens,
  eventsQuery,
  rewardErrors,
  evaluationsQuery,
  matrixQuery,
  subscribe,
  unsubscribe,
  configLens,
  configSet,
  configReview,
  stageSteps,
  rescore,
  rescoreSweep,
  rewardCheck,
  rewardGold,
  rewardAttack,
  rewardPin,
  rewardTest,
  rewardCoverage,
  curriculumTest,
  judgeDraw,
  judgeReport,
} as const;

/** Error codes besides JSON-RPC's own. `data` carries `{ action }`: what the person can do. */
export const errorCodes = {
  badToken: -33001,
  wrongProtocol: -33002,
  unknownRun: -33003,
  refused: -33004,
  invalidConfig: -33005,
  storeFailed: -33006,
  busy: -33007,
} as const;
