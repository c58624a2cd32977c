/** When a training that is followed has ended: few trainers write that down, so the pace of its steps decides. */
import { formatSeconds } from "../../../../shared/lib/format.ts";
import { abandonedAfter, completeAfter, type Pace } from "../../../analysis/verdict/pace.ts";
import type { Feed } from "./feed.ts";

export interface FollowEnd {
  readonly status: "finished" | "failed" | "stopped";
  readonly message: string;
}

export const left: FollowEnd = {
  status: "stopped",
  message: "Following was stopped; the training itself goes on.",
};

/** Of what is read as it is now. */
export const readThrough = (feed: Pick<Feed, "about">): FollowEnd => ({
  status: feed.about().ended?.status ?? "finished",
  message: "",
});

interface Followed {
  readonly pace: Pace | null;
  readonly lastStep: number;
}
interface Watch {
  /** Milliseconds without a write after which it counts as ended; undefined: by its steps' time. */
  readonly quiet: number | undefined;
  /** Something was written while it was watched. */
  readonly grew: boolean;
}

/** Files of the last step may follow it: a checkpoint, an evaluation. */
const settles = 60_000;

/** undefined: it goes on. */
export function endOf(
  feed: Pick<Feed, "about" | "written">,
  { pace, lastStep }: Followed,
  { quiet, grew }: Watch,
  now = Date.now(),
): FollowEnd | undefined {
  const { ended, planned } = feed.about();
  if (ended !== undefined) return { status: ended.status, message: "" };
  const waited = now - feed.written();
  const made = planned !== undefined && lastStep >= planned;
  const rest = made ? settles : planned === undefined ? completeAfter(pace) : abandonedAfter(pace);
  if (waited <= (quiet ?? rest)) return undefined;
  const since = `Nothing was written for ${formatSeconds(waited / 1000)} after step ${lastStep}`;
  if (planned !== undefined && !made)
    return {
      status: "stopped",
      message: `${since} of ${planned}: the training has ended early, or has come to a halt. If it goes on, open the folder again.`,
    };
  const usual = pace === null ? "" : `, where a step takes ${formatSeconds(pace.usual / 1000)}`;
  return {
    status: "finished",
    message:
      grew && !made
        ? `${since}${usual}: it counts as finished. If the training goes on, open the folder again.`
        : "",
  };
}
