/** The connection and the daemon itself. */
import { z } from "zod";
import { request } from "./descriptor.ts";

export type Role = "editor" | "command" | "language";
export interface HelloResult {
  readonly instance: string;
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  readonly store: string;
  readonly node: string;
  readonly live: number;
  readonly capabilities: readonly string[];
}
export const hello = request<HelloResult>()(
  "gradus/hello",
  z.object({
    token: z.string(),
    protocol: z.number().int(),
    version: z.string(),
    role: z.enum(["editor", "command", "language"]),
    pid: z.number().int(),
  }),
);
export interface DaemonStatus extends HelloResult {
  readonly startedAt: string;
  readonly clients: number;
  readonly socket: string;
  readonly log: string;
  readonly idleSeconds: number | null;
  readonly driver: string;
  readonly eventLoop: { readonly p50: number; readonly p99: number };
}
export const daemonStatus = request<DaemonStatus>()("gradus/daemon/status", z.object({}));
/** Refused with live runs unless `force`; runs themselves continue either way. */
export const daemonShutdown = request<{ readonly accepted: boolean; readonly reason?: string }>()(
  "gradus/daemon/shutdown",
  z.object({ force: z.boolean().default(false) }),
);
