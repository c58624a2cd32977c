/** A `trainer_state.json` alone: what TRL logged up to a checkpoint. */
import { basename, dirname, resolve } from "node:path";
import { readMetrics, type TrainerMetrics } from "../../trainerMetrics.ts";
import { newestWrite, type Feed, type FeedAbout, type FeedSlice } from "../feed.ts";

export const stateName = "trainer_state.json";

export class StateFeed implements Feed {
  readonly trainer = "trl";
  private metrics: TrainerMetrics | undefined;

  constructor(private readonly file: string) {}

  about(): FeedAbout {
    const folder = dirname(resolve(this.file));
    const { planned } = this.metrics ?? {};
    return {
      version: null,
      groups: "none",
      copies: false,
      name: basename(/^checkpoint-\d+$/.test(basename(folder)) ? dirname(folder) : folder),
      notes: [],
      started: this.written() / 1000,
      ...(planned === undefined ? {} : { planned }),
    };
  }

  next(): FeedSlice {
    if (this.metrics !== undefined) return { parts: [], bytes: 0, more: false };
    this.metrics = readMetrics("trl", this.file);
    const time = this.written() / 1000;
    const parts = this.metrics.steps.map(({ step, values }) => ({ step, time, values }));
    return { parts, bytes: 0, more: false };
  }

  written(): number {
    return newestWrite([this.file]);
  }

  close(): void {
    this.metrics = undefined;
  }
}
