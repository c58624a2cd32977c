/** How a run stands. Apart from protocol.ts, so that a webview does not carry the protocol's parameter checks. */
export type RunStatus =
  "starting" | "running" | "paused" | "stopping" | "finished" | "stopped" | "failed" | "interrupted";
export const liveStatuses: readonly RunStatus[] = ["starting", "running", "paused", "stopping"];
export const isLive = (status: RunStatus): boolean => liveStatuses.includes(status);
