import type { Declaration } from "../../core/declaration.ts";
import { bestN } from "./selections/bestN.ts";
import { bestRandom } from "./selections/bestRandom.ts";
import { bestWorst } from "./selections/bestWorst.ts";
import { keepNonzero } from "./admissions/keepNonzero.ts";
import { drawPriority } from "./draws/drawPriority.ts";
import { drawRecent } from "./draws/drawRecent.ts";
import { drawSameTasks } from "./draws/drawSameTasks.ts";
import { drawUniform } from "./draws/drawUniform.ts";
import { file } from "./file.ts";
import { keepAdvantage } from "./admissions/keepAdvantage.ts";
import { keepAll } from "./admissions/keepAll.ts";
import { keepLeftovers } from "./admissions/keepLeftovers.ts";
import { keepReward } from "./admissions/keepReward.ts";
import { keepSuccesses } from "./admissions/keepSuccesses.ts";
import { noReplay } from "./noReplay.ts";
import { rescoreRecalibrated } from "./rescoreRecalibrated.ts";
import { rescoreRecomputed } from "./rescoreRecomputed.ts";
import { rescoreRecorded } from "./rescoreRecorded.ts";
import { selectAll } from "./selections/selectAll.ts";
import { selectNone } from "./selections/selectNone.ts";
import { sharedLog } from "./sharedLog.ts";
import { shortLong } from "./selections/shortLong.ts";
import { window } from "./window.ts";

export const replaySources: readonly Declaration<"replay">[] = [noReplay, window, file, sharedLog];
export const replayAdmissions: readonly Declaration<"replay_admission">[] = [
  keepAll,
  keepSuccesses,
  keepAdvantage,
  keepNonzero,
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
