/** What changes while somebody looks. */
import { z } from "zod";
import { runIdSchema } from "../run/runId.ts";
import { notification, request } from "./descriptor.ts";
import type { RunSummary } from "./runs.ts";

/** One append-only feed for every client: reload, sleep and a second window are the same code path. */
export interface Change {
  /** Grows by one with each change of the store. */
  readonly cursor: number;
  readonly run: string;
  readonly kind: "created" | "status" | "step" | "evaluation" | "event" | "checkpoint" | "deleted";
  readonly step: number;
  readonly summary: RunSummary | null;
  /** For `step`: the step's metrics. */
  readonly metrics?: Readonly<Record<string, number | null>>;
}
/** Answers with everything after `since`, or, where that is no longer known, `restart: true`: ask for all again. */
export const subscribe = request<{
  readonly cursor: number;
  readonly restart: boolean;
  readonly changes: readonly Change[];
}>()(
  "gradus/subscribe",
  z.object({ since: z.number().int().optional(), runs: z.array(runIdSchema).optional() }),
);
export const unsubscribe = request<Record<string, never>>()("gradus/unsubscribe", z.object({}));
/** At most ten a second. `restart`: this client was too slow, and what it missed is no longer known. */
export const changed = notification<{
  readonly cursor: number;
  readonly changes: readonly Change[];
  readonly restart?: boolean;
}>("gradus/changed");
