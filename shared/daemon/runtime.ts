/**
 * Where the daemon of a store is found: a per-user folder outside the workspace, keyed by the store's real path.
 * The folder must be a real one, ours, and closed to others; anything else is refused, never fixed silently.
 */
import { copiedWord } from "../lib/copiedWord.ts";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../lib/errors.ts";

/** Unix socket paths hold 104 bytes on macOS, 108 on Linux. */
const maximumSocketPath = 95;
const longestName = "/gradus/0123456789abcdef-01234567.sock".length;

function candidate(): string {
  const own = process.env["XDG_RUNTIME_DIR"];
  const user =
    process.platform === "win32" ? userInfo().username : String(process.getuid?.() ?? userInfo().username);
  const choices = [
    ...(own === undefined || own === "" ? [] : [join(own, "gradus")]),
    join(tmpdir(), `gradus-${user}`),
  ];
  const short = choices.find(
    (folder) =>
      process.platform === "win32" ||
      Buffer.byteLength(folder) + longestName - "/gradus".length < maximumSocketPath,
  );
  return short ?? join("/tmp", `gradus-${user}`);
}

/** The per-user folder, made with mode 0700 when absent. Throws a UserError when it cannot be trusted. */
export function runtimeFolder(): string {
  const folder = candidate();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const refuse = (what: string, action: string): never => {
    throw new UserError(`The runtime folder ${folder} ${what}.`, {
      file: folder,
      code: "runtime-folder",
      action,
    });
  };
  if (found.isSymbolicLink()) refuse("is a symbolic link", "Remove it; Gradus creates a folder of its own.");
  if (!found.isDirectory()) refuse("is not a folder", "Remove it; Gradus creates a folder of its own.");
  if (process.platform === "win32") return folder;
  if (found.uid !== process.getuid?.())
    refuse("belongs to another user", "Set XDG_RUNTIME_DIR to a folder of yours with mode 0700.");
  if ((found.mode & 0o077) !== 0)
    refuse(
      `is open to other users (mode ${(found.mode & 0o777).toString(8)})`,
      `Close it: chmod 700 ${copiedWord(folder)}`,
    );
  return folder;
}

export interface RuntimePaths {
  /** The store's real path. */
  readonly store: string;
  readonly discovery: string;
  /** Held for seconds by the process that starts a daemon. */
  readonly startLock: string;
  /** Held by the daemon, for life. */
  readonly ownerLock: string;
  /** Unique for each instance: a dying daemon cannot remove its successor's. */
  socket(instance: string): string;
}

/** The real path of a store that may not exist yet. */
function realStore(store: string): string {
  const absolute = resolve(store);
  try {
    return realpathSync(absolute);
  } catch {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  }
}

export function runtimePaths(store: string): RuntimePaths {
  const real = realStore(store);
  const folder = runtimeFolder();
  const key = createHash("sha256").update(real).digest("hex").slice(0, 16);
  const at = (suffix: string): string => join(folder, `${key}${suffix}`);
  const socket = (instance: string): string =>
    process.platform === "win32"
      ? `\\\\.\\pipe\\gradus-${key}-${instance.slice(0, 8)}`
      : at(`-${instance.slice(0, 8)}.sock`);
  return {
    store: real,
    discovery: at(".json"),
    startLock: at(".start.lock"),
    ownerLock: at(".lock"),
    socket,
  };
}
