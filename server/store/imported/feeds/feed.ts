/** What another program writes while it trains, as a run takes it in: read once from the start, then as it grows. */
import { statSync } from "node:fs";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { PlacedRecord } from "../../../../shared/log/records.ts";
import type { RolloutRow, WireNumber } from "../../../../shared/rollouts/rollouts.ts";
import type { GroupedBy, Writer } from "../../../../shared/run/origin.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";

/** Something that belongs to one step. */
export interface FeedPart {
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly values?: Readonly<Record<string, WireNumber>>;
  /** Rollouts of the step, whole groups of them. */
  readonly rows?: readonly RolloutRow[];
  /** Rollouts that stay where they are. */
  readonly placed?: PlacedRecord;
}

export interface FeedAbout {
  readonly name?: string;
  /** Release of the program, where it is written somewhere. */
  readonly version: string | null;
  readonly groups: GroupedBy;
  /** Whether rollouts are copied into the run. */
  readonly copies: boolean;
  /** The run's settings, as the program wrote them down. */
  readonly config?: JsonObject;
  /** Steps that the run is going to make. */
  readonly planned?: number;
  /** Seconds since 1970. */
  readonly started?: number;
  /** The program says that it has ended, and how. */
  readonly ended?: { readonly time: number; readonly status: "finished" | "failed" };
  /** What a person should know of this run's reading, as sentences. */
  readonly notes: readonly string[];
}

export interface Feed {
  readonly trainer: Writer;
  about(): FeedAbout;
  /**
   * What is there since the last call, some megabytes at most.
   * @param last the program has ended, or is taken to have: what waited for more of its step comes now
   */
  next(last: boolean): FeedSlice;
  /** When something was last written to what it reads, in milliseconds since 1970. */
  written(): number;
  close(): void;
}

/** Of files that may be gone. */
export const newestWrite = (files: readonly string[]): number =>
  Math.max(0, ...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));

export interface FeedSlice {
  readonly parts: readonly FeedPart[];
  /** Bytes that were read for it. */
  readonly bytes: number;
  /** There is more now. */
  readonly more: boolean;
}

export interface FeedOptions {
  readonly config: RunConfig | undefined;
  /** Name of the run, where a file has several. */
  readonly run?: string | undefined;
}

/** Bytes that a call of `next` reads. */
export const sliceBytes = 4 * 1024 * 1024;
