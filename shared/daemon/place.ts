/** Where a process id counts: a machine, since it was started, in one PID namespace. Elsewhere the same number is another process. */
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";

export const placeSchema = z.object({
  host: z.string(),
  /** Of this start of the machine; empty where the system does not tell. */
  boot: z.string(),
  /** The PID namespace (on Linux: a container has its own); empty elsewhere. */
  pids: z.string(),
});
export type Place = z.infer<typeof placeSchema>;

const orEmpty = (read: () => string): string => {
  try {
    return read().trim();
  } catch {
    return ""; // this system does not tell
  }
};

const bootId: Partial<Record<NodeJS.Platform, () => string>> = {
  linux: () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"),
  darwin: () =>
    execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
};

let own: Place | undefined;

export const ownPlace = (): Place =>
  (own ??= {
    host: hostname(),
    boot: orEmpty(bootId[process.platform] ?? (() => "")),
    pids: process.platform === "linux" ? orEmpty(() => readlinkSync("/proc/self/ns/pid")) : "",
  });

/** A laptop's name changes with its network: the name decides only where the system has no boot id. */
export function samePlace(one: Place, other: Place): boolean {
  if (one.pids !== other.pids) return false;
  return one.boot !== "" && other.boot !== "" ? one.boot === other.boot : one.host === other.host;
}

/** The place as it reads in a sentence: "process 7 …". */
export const placeText = (place: Place, here: Place = ownPlace()): string =>
  place.boot !== "" && place.boot === here.boot
    ? `in another container or PID namespace of this machine (host name ${place.host})`
    : `on another machine or in another container (host name ${place.host})`;
