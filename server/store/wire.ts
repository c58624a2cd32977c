/** What the main thread asks of the store's thread. Plain data both ways. */
import type { ParamsOf, ResultOf, RunStatus, rolloutsSearch } from "../../shared/protocol/protocol.ts";
import type { Queries } from "./queries/queries.ts";

type QueryName =
  | "list"
  | "show"
  | "verdict"
  | "isStalled"
  | "names"
  | "series"
  | "groups"
  | "curriculum"
  | "tasks"
  | "rollouts"
  | "events"
  | "rewardErrors"
  | "evaluations"
  | "matrix"
  | "changes"
  | "summary"
  | "byStartKey"
  | "lens"
  | "fileRuns"
  | "fileStamps"
  | "runToRescore"
  | "rolloutSteps"
  | "rolloutPlaces"
  | "rolloutRecord"
  | "rolloutColumns"
  | "judgeDraw"
  | "head";

export interface StoreCalls extends Pick<Queries, QueryName> {
  scan(): readonly { readonly run: string; readonly status: RunStatus; readonly attempt: number }[];
  trashed(): readonly string[];
  register(run: string, startKey: string | null): void;
  /** Reads the run's log in slices from now on; answers at once. */
  ingest(run: string): void;
  /** Answers when everything that is in the run's log now has been read; fails where it cannot be. */
  drain(run: string): void;
  setStatus(run: string, status: RunStatus, message: string | null, attempt?: number): void;
  /** Tells those who follow that the run's summary is another. */
  marked(run: string): void;
  /** As the run's log and the daemon left it, whether its process lives or not. */
  recordedStatus(run: string): RunStatus | undefined;
  /** Where the log of the run's last attempt stops being readable, and what to do; null: it is whole. */
  damage(run: string): string | null;
  forgetRun(run: string): void;
  /** Answers soon, with what is indexed by then. */
  search(parameters: ParamsOf<typeof rolloutsSearch>): ResultOf<typeof rolloutsSearch>;
  driver(): string;
  close(): void;
}
export type CallName = keyof StoreCalls;

export interface CallMessage {
  readonly id: number;
  readonly name: CallName;
  readonly parameters: readonly unknown[];
}
export type ThreadMessage =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly error: {
        readonly message: string;
        readonly detail: { readonly action?: string; readonly file?: string; readonly code?: string } | null;
      };
    }
  /** The feed has grown, or a run's log could not be read. */
  | { readonly changed: number }
  /** The database was damaged and is built again out of the logs: what it knew of live runs has to be found again. */
  | { readonly rebuilt: number }
  | { readonly problem: string };
