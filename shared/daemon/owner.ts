/**
 * Which process serves a store, when it does not answer: its lock files say so, and they are believed only as far as the
 * process shows it. A daemon that hangs, or whose socket is gone, can so be reported and ended.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { UserError, messageOf } from "../lib/errors.ts";
import { readDiscovery } from "./discovery.ts";
import { isHolding, readLock, silentAfter, touchedWithin, type LockHolder } from "./lock.ts";
import type { Place } from "./place.ts";
import { isAlive, isElsewhere, worksOn, type ProcessIdentity } from "./process.ts";
import { runtimePaths } from "./runtime.ts";
import { realPath } from "../lib/realPath.ts";

/** In the store itself: two sessions of one person may have different runtime folders. */
export const storeLockPath = (store: string): string => join(store, "owner.lock");

/** What a daemon's process is started with, after `daemon` unless an earlier version did; the store follows. */
export const serveWords = ["serve", "--store"] as const;

type StoreIdentity = NonNullable<LockHolder["store"]>;

export function identityOfStore(store: string): StoreIdentity {
  const { dev, ino } = statSync(store, { bigint: true });
  return { path: realPath(store), device: String(dev), inode: String(ino) };
}

/** A copy of a folder brings the original's lock along, which says nothing about the copy. A moved folder is the same one. */
export function isSameStore(recorded: StoreIdentity | undefined, store: string): boolean {
  if (recorded === undefined) return true;
  const here = identityOfStore(store);
  if (recorded.inode === "0") return recorded.path === here.path;
  return recorded.inode === here.inode && recorded.device === here.device;
}

export type Serving =
  | { readonly state: "none" }
  | { readonly state: "here"; readonly identity: ProcessIdentity }
  | { readonly state: "elsewhere"; readonly pid: number; readonly place: Place };

const isDaemonOf = (store: string, holder: LockHolder | ProcessIdentity): boolean =>
  isAlive(holder) &&
  isSameStore("store" in holder ? holder.store : undefined, store) &&
  (worksOn(holder.pid, serveWords, store) ?? isBeating(store));

/** Where no program says what a process was started with. */
const isBeating = (store: string): boolean =>
  touchedWithin([runtimePaths(store).ownerLock, storeLockPath(store)], silentAfter);

/** The daemon that the store's files name, where that process is one. */
export function findServing(store: string): Serving {
  const { discovery, ownerLock } = runtimePaths(store);
  const locks = [ownerLock, storeLockPath(store)];
  const named = [readDiscovery(discovery), ...locks.map(readLock)].filter((found) => found !== null);
  const identity = named.find((found) => isDaemonOf(store, found));
  if (identity !== undefined) return { state: "here", identity };
  for (const path of locks) {
    const holder = readLock(path);
    if (holder?.place !== undefined && isElsewhere(holder) && isHolding(holder, path))
      return { state: "elsewhere", pid: holder.pid, place: holder.place };
  }
  return { state: "none" };
}

const askedTime = 5_000;
const killedTime = 5_000;

/**
 * Ends a daemon by signals: asks, then insists. Its runs continue without it.
 * @returns whether it is gone
 */
export async function endDaemon(store: string, identity: ProcessIdentity): Promise<boolean> {
  for (const [signal, time] of [
    ["SIGTERM", askedTime],
    ["SIGKILL", killedTime],
  ] as const) {
    if (!isDaemonOf(store, identity)) return !isAlive(identity);
    try {
      process.kill(identity.pid, signal);
    } catch (error) {
      if (!isAlive(identity)) return true;
      throw new UserError(`Process ${identity.pid} cannot be ended: ${messageOf(error)}.`, { cause: error });
    }
    if (await isGone(identity, time)) return true;
  }
  return false;
}

export async function isGone(identity: ProcessIdentity, milliseconds: number): Promise<boolean> {
  for (const deadline = performance.now() + milliseconds; performance.now() < deadline;) {
    if (!isAlive(identity)) return true;
    await wait(20);
  }
  return !isAlive(identity);
}
