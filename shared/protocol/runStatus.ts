/** The status of a run. Apart from protocol.ts, so that a webview does not carry the protocol's parameter checks. */
export type RunStatus =
  | "starting"
  | "running"
  | "paused"
  | "stopping"
  | "finished"
  | "stopped"
  | "failed"
  | "interrupted"
  /** Its process has ended and its log is not read to the end yet: what became of it is about to be known. */
  | "reading";
export const liveStatuses: readonly RunStatus[] = ["starting", "running", "paused", "stopping"];
/** What became of it is known. */
export const isSettled = (status: RunStatus): boolean => !isLive(status) && status !== "reading";
export const isLive = (status: RunStatus): boolean => liveStatuses.includes(status);
