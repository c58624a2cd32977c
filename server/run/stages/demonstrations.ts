/** Recorded rollouts and plain text as rows to learn from. */
import { readFileSync } from "node:fs";
import { UserError, readFailure } from "../../../shared/lib/errors.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Algorithm } from "../../algorithm/algorithm.ts";
import { columnOf } from "../../algorithm/rewards/rewards.ts";
import type { Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import { batchOfTexts, textRecord } from "../../core/rows/textRows.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import {
  batchOfRows,
  columnOfRows,
  groupKey,
  readRollouts,
  recordedValue,
  type RecordedRow,
} from "../../analysis/recorded.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Policy, Tokenizer } from "../../core/policy.ts";
import type { RewardColumn } from "../../core/reward.ts";
import type { KeptRow } from "../../methods/replay/keptRow.ts";
import { asked } from "../step/generate/prompts.ts";
import { keptRow } from "../step/replay/keptRows.ts";
import { checkScored, trainable, type HeldOut, type StartNote } from "../models/trainable.ts";

const refusal = ({ place }: RecordedRow, message: string, action: string): UserError =>
  new UserError(message, { ...place, character: 0, code: "replay-file", action });

/** A row with its tokens and those of its prompt, read by the policy's tokenizer where it has none of its own. */
export function tokenised(
  recorded: RecordedRow,
  policy: Pick<Policy, "tokenizer" | "context">,
  body: StageBody,
): RolloutRow {
  const { row } = recorded;
  const { tokenizer } = policy;
  const { prompt, response } = row;
  if (row.context === undefined && prompt === undefined)
    throw refusal(recorded, 'the rollout has neither "prompt" nor "context"', "Record one of them.");
  if (row.tokens === undefined && response === undefined)
    throw refusal(recorded, 'the rollout has neither "response" nor "tokens"', "Record one of them.");
  const task = { id: "", source: "", env: "", prompt: prompt ?? "", data: {} };
  const context = row.context ?? [...asked(tokenizer, task, body.rollout).tokens];
  const tokens = row.tokens ?? [...tokenizer.encode(response ?? ""), tokenizer.eos];
  const alien = [...context, ...tokens].find((token) => token < 0 || token >= tokenizer.size);
  if (alien !== undefined)
    throw refusal(
      recorded,
      `the rollout has token ${alien}, but the policy's vocabulary has ${tokenizer.size} tokens`,
      "Record rollouts with this tokenizer, or leave `tokens` and `context` out, so that the text is read.",
    );
  if (context.length + tokens.length > policy.context)
    throw refusal(
      recorded,
      `the rollout has ${context.length + tokens.length} tokens with its prompt, but the policy's context is ${policy.context}`,
      "Shorten it, or choose a model with a longer context.",
    );
  return { ...row, context, tokens };
}

/** What each term of the config scored; where rows have no terms their `reward` is one more column. */
function termsOf(rows: readonly RolloutRow[], body: StageBody, batch: Batch): RewardColumn[] {
  const whole = rows.map(({ rewards, errors }) => rewards === undefined && errors === undefined);
  const own = body.reward.terms.map(({ name }) =>
    columnOf(
      name,
      rows.map((row, i) => (whole[i] ? { kind: "none" } : recordedValue(row, name))),
      batch,
    ),
  );
  if (!rows.some(({ reward }, i) => whole[i] && reward !== undefined)) return own;
  const values = rows.map(({ reward }, i) =>
    whole[i] && reward !== undefined && reward !== null
      ? ({ kind: "value", value: fromWire(reward) } as const)
      : ({ kind: "none" } as const),
  );
  return [...own, columnOf("total", values, batch)];
}

function advantagesOf(rows: readonly RolloutRow[], batch: Batch): Advantages {
  const tokens =
    columnOfRows(rows, "advantages", batch.offsets) ?? new Float64Array(batch.tokens.length).fill(Number.NaN);
  rows.forEach(({ advantage, advantages }, i) => {
    if (advantages === undefined && advantage !== undefined)
      tokens.fill(fromWire(advantage), batch.offsets[i], batch.offsets[i + 1]);
  });
  return {
    tokens,
    rows: new Float64Array(rows.length),
    exists: Uint8Array.from(tokens, (value) => (Number.isNaN(value) ? 0 : 1)),
  };
}

/** A file of rollouts, and what it is read for. */
export interface LogFile {
  readonly path: string;
  /** What becomes of tasks that evaluation holds out. */
  readonly heldOut: HeldOut;
  /** What training reads of a row: its advantages, of which each row must have some; its reward, of which some must; neither. */
  readonly needs: "advantages" | "rewards" | "nothing";
}

/** Who reads it. */
export interface DemonstrationSetup {
  readonly body: StageBody;
  readonly policy: Pick<Policy, "tokenizer" | "context">;
  readonly algorithm: Algorithm;
  /** What the run's evaluation asks. */
  readonly evaluated: readonly TaskSource[];
}

/** Rows with tokens, as they are kept at a step. */
export function keptOf(
  rows: readonly RolloutRow[],
  { body, algorithm }: Pick<DemonstrationSetup, "body" | "algorithm">,
  step: number,
): KeptRow[] {
  const batch = batchOfRows(rows, body.tasks);
  const scored = algorithm.rewards(termsOf(rows, body, batch), batch, { step: 0, stageStep: 0 });
  const advantages = advantagesOf(rows, batch);
  return rows.map((row, i) =>
    keptRow({ batch, scored, dropped: new Set() }, advantages, i, step, groupKey(row)),
  );
}

/**
 * The rollouts of a file that may train, as if they had been kept at step 0.
 * @throws UserError naming the file, the line and what is wrong with it
 */
export async function recordedRows(
  { path, heldOut, needs }: LogFile,
  setup: DemonstrationSetup,
): Promise<{ readonly rows: KeptRow[]; readonly notes: readonly StartNote[] }> {
  const { body, policy, evaluated } = setup;
  const { rows: recorded, notes } = trainable(path, await readRollouts(path), evaluated, heldOut);
  const needsAdvantages = needs === "advantages";
  const lacking = recorded.find(({ row }) => row.advantages === undefined && row.advantage === undefined);
  if (needsAdvantages && lacking !== undefined)
    throw refusal(
      lacking,
      'replay.rescore: recorded needs "advantages" or "advantage", but the rollout has neither',
      "Record one of them, or set `replay.rescore: recomputed` (by the rewards of whole groups) or recalibrated.",
    );
  const kept = keptOf(
    recorded.map((one) => tokenised(one, policy, body)),
    setup,
    0,
  );
  if (needs === "rewards" && body.reward.terms.length > 0)
    checkScored(
      path,
      recorded,
      kept.map(({ reward }) => reward),
      body.reward.terms.map(({ name }) => name),
    );
  return { rows: kept, notes };
}

/** All tokens of a text, or of the `text` of every line of a .jsonl file. */
export function tokensOfText(path: string, tokenizer: Tokenizer): Int32Array {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new UserError(`the text cannot be read: ${readFailure(error)}`, {
      file: path,
      code: "text-missing",
      cause: error,
      action: "Check `path` of the auxiliary loss. It is relative to the config.",
    });
  }
  const whole = path.endsWith(".jsonl") ? linesOf(text, path).join("\n") : text;
  const tokens = tokenizer.encode(whole);
  if (tokens.length < 2)
    throw new UserError("the text has fewer than two tokens", {
      file: path,
      code: "text-empty",
      action: "Name a longer text.",
    });
  return tokens;
}

function linesOf(text: string, path: string): string[] {
  return text.split("\n").flatMap((line, number) => {
    if (line.trim() === "") return [];
    const value = parsed(line);
    if (value === undefined)
      throw new UserError('the line is not a JSON object with a "text"', {
        file: path,
        line: number,
        character: 0,
        code: "text-line",
        action: "Write one JSON object a line, each with `text`.",
      });
    return [value];
  });
}

function parsed(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "text" in value && typeof value.text === "string"
      ? value.text
      : undefined;
  } catch {
    return undefined;
  }
}

/** Pieces of a text from given places. */
export const piecesOf = (tokens: Int32Array, starts: readonly number[], length: number): Batch =>
  batchOfPieces(
    starts.map((start) => tokens.slice(start, start + length)),
    starts,
  );

/** Pieces of text: the first token of each is its context, the others train. @param places what names each */
export function batchOfPieces(rows: readonly Int32Array[], places?: readonly number[]): Batch {
  return batchOfTexts(
    rows.map((row, i) => {
      const id = `text/${places?.[i] ?? i}`;
      const task = { id, source: "text", env: "text", prompt: "", data: {} };
      return { context: row.subarray(0, 1), tokens: row.subarray(1), record: textRecord(task, i, "") };
    }),
  );
}
