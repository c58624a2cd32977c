/** Files that replay and auxiliary losses name, read before the first step. */
import type { Algorithm } from "../algorithm.ts";
import type { StageBody } from "../config/resolved.ts";
import type { Policy } from "../seams.ts";
import type { AuxiliaryLosses } from "./auxiliary.ts";
import { recordedRows, tokensOfText } from "./demonstrations.ts";
import type { Replay } from "./replay.ts";

/** @throws UserError naming the file and the line */
export async function prepareReplay(
  { source, memory, config }: Replay,
  body: StageBody,
  policy: Policy,
  algorithm: Algorithm,
): Promise<void> {
  if (source.kind !== "file" || memory.rows.length > 0) return;
  const needed = config.rescore.declaration.name === "recorded";
  memory.rows = await recordedRows(source.path, body, policy, algorithm, needed);
}

/** @throws UserError naming the file and the line */
export async function prepareAuxiliary(
  { demonstrations }: AuxiliaryLosses,
  body: StageBody,
  policy: Policy,
  algorithm: Algorithm,
): Promise<void> {
  for (const one of demonstrations) {
    const { data } = one.loss;
    if (data.from === "text") one.text ??= tokensOfText(data.path, policy.tokenizer);
    if (data.from === "file" && one.memory.rows.length === 0)
      one.memory.rows = await recordedRows(data.path, body, policy, algorithm, false);
  }
}
