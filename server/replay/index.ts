import type { Declaration } from "../config/declaration.ts";
import { bestN } from "./bestN.ts";
import { bestRandom } from "./bestRandom.ts";
import { bestWorst } from "./bestWorst.ts";
import { drawPriority } from "./drawPriority.ts";
import { drawRecent } from "./drawRecent.ts";
import { drawSameTasks } from "./drawSameTasks.ts";
import { drawUniform } from "./drawUniform.ts";
import { file } from "./file.ts";
import { keepAdvantage } from "./keepAdvantage.ts";
import { keepAll } from "./keepAll.ts";
import { keepLeftovers } from "./keepLeftovers.ts";
import { keepReward } from "./keepReward.ts";
import { keepSuccesses } from "./keepSuccesses.ts";
import { noReplay } from "./noReplay.ts";
import { rescoreRecalibrated } from "./rescoreRecalibrated.ts";
import { rescoreRecomputed } from "./rescoreRecomputed.ts";
import { rescoreRecorded } from "./rescoreRecorded.ts";
import { selectAll } from "./selectAll.ts";
import { selectNone } from "./selectNone.ts";
import { shortLong } from "./shortLong.ts";
import { window } from "./window.ts";

export const replaySources: readonly Declaration<"replay">[] = [noReplay, window, file];
export const replayAdmissions: readonly Declaration<"replay_admission">[] = [
  keepAll,
  keepSuccesses,
  keepAdvantage,
  keepReward,
  keepLeftovers,
];
export const replayDraws: readonly Declaration<"replay_draw">[] = [
  drawUniform,
  drawRecent,
  drawPriority,
  drawSameTasks,
];
export const rescores: readonly Declaration<"rescore">[] = [
  rescoreRecorded,
  rescoreRecomputed,
  rescoreRecalibrated,
];
export const selections: readonly Declaration<"selection">[] = [
  selectAll,
  selectNone,
  bestN,
  bestRandom,
  bestWorst,
  shortLong,
];
