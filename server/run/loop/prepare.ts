/** Files that replay and auxiliary losses name, read before the first step. */
import type { AuxiliaryLosses } from "../stages/auxiliary.ts";
import {
  recordedRows,
  tokensOfText,
  type LogFile,
  type DemonstrationSetup,
} from "../stages/demonstrations.ts";
import { GrowingLog } from "../step/replay/growingLog.ts";
import type { Replay } from "../step/replay/replay.ts";
import type { StartNote } from "../models/trainable.ts";

/** What training reads of replayed rollouts. */
const needsOf = ({ rescore }: Replay): LogFile["needs"] => {
  if (rescore.from === "recorded") return "advantages";
  return rescore.from === "recomputed" && rescore.again ? "nothing" : "rewards";
};

/** @returns what to tell of the file. @throws UserError naming the file and the line */
export async function prepareReplay(
  replay: Replay,
  reader: DemonstrationSetup,
): Promise<readonly StartNote[]> {
  const { source, memory } = replay;
  if (memory.log instanceof GrowingLog) memory.log.reader = reader;
  if (source.kind !== "file" || memory.rows.length > 0) return [];
  const { path, heldOut } = source;
  const { rows, notes } = await recordedRows({ path, heldOut, needs: needsOf(replay) }, reader);
  memory.rows = rows;
  return notes;
}

/** @returns what to report of the files. @throws UserError naming the file and the line */
export async function prepareAuxiliary(
  { demonstrations }: AuxiliaryLosses,
  reader: DemonstrationSetup,
): Promise<readonly StartNote[]> {
  const found: StartNote[] = [];
  for (const one of demonstrations) {
    const { data } = one.loss;
    if (data.from === "text") one.text ??= tokensOfText(data.path, reader.policy.tokenizer);
    if (data.from !== "file" || one.memory.rows.length > 0) continue;
    const { path, heldOut } = data;
    const { rows, notes } = await recordedRows({ path, heldOut, needs: "nothing" }, reader);
    one.memory.rows = rows;
    found.push(...notes);
  }
  return found;
}
