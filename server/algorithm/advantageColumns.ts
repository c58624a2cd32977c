/** Advantages as what reads them a part at a time takes them. */
import { selectTokens } from "../batch.ts";
import type { Batch } from "../seams.ts";
import type { Advantages } from "./tokenAdvantages.ts";
import type { TokenColumn } from "./perRow.ts";

/** The advantages' column; where there need not be one, what stands for it. */
export const columnOfAdvantages = (advantages: Advantages): TokenColumn =>
  advantages.perRow ?? advantages.late ?? advantages.tokens;

/** Those of some rows, in the order given. */
export const advantagesOfRows = (
  advantages: Advantages,
  batch: Batch,
  rows: readonly number[],
): TokenColumn =>
  advantages.perRow?.of(rows) ??
  advantages.late?.of(batch, rows) ??
  selectTokens(advantages.tokens, batch, rows);
