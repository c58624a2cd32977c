/**
 * Where the daemon of a store is found: a per-user folder outside the workspace, keyed by the store's real path.
 * The folder must be a real one, ours, and closed to others; anything else is refused, never fixed silently.
 */
import { copiedWord } from "../lib/copiedWord.ts";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, join, posix, resolve, win32 } from "node:path";
import { UserError } from "../lib/errors.ts";
import { realPath } from "../lib/realPath.ts";

/** Bytes of a Unix socket's path: macOS holds 104, Linux 108, a zero byte at the end among them. */
const maximumSocketPath = 95;
const longestName = "/0123456789abcdef-01234567.sock".length;

interface User {
  readonly platform: NodeJS.Platform;
  /** XDG_RUNTIME_DIR. */
  readonly own: string | undefined;
  readonly temporary: string;
  /** A name, or where the system has them a number: that is short. */
  readonly user: string;
}

/** The user's own folder, where that is short enough for a socket; else the temporary one, else `/tmp`. */
export function runtimeFolderOf({ platform, own, temporary, user }: User): string {
  const isWindows = platform === "win32";
  const { join } = isWindows ? win32 : posix;
  const choices = [
    ...(own === undefined || own === "" ? [] : [join(own, "gradus")]),
    join(temporary, `gradus-${user}`),
  ];
  // A pipe of Windows lies in no folder.
  const short = choices.find(
    (folder) => isWindows || Buffer.byteLength(folder) + longestName < maximumSocketPath,
  );
  return short ?? join("/tmp", `gradus-${user}`);
}

/** Unique for each instance. @param key of the store: a hash */
export function socketPathOf(
  folder: string,
  key: string,
  instance: string,
  platform: NodeJS.Platform = process.platform,
): string {
  const name = `${key}-${instance.slice(0, 8)}`;
  return platform === "win32" ? `\\\\.\\pipe\\gradus-${name}` : posix.join(folder, `${name}.sock`);
}

const candidate = (): string =>
  runtimeFolderOf({
    platform: process.platform,
    own: process.env["XDG_RUNTIME_DIR"],
    temporary: tmpdir(),
    user: String(process.getuid?.() ?? userInfo().username),
  });

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
    return realPath(absolute);
  } catch {
    return join(realPath(dirname(absolute)), basename(absolute));
  }
}

export function runtimePaths(store: string): RuntimePaths {
  const real = realStore(store);
  const folder = runtimeFolder();
  const key = createHash("sha256").update(real).digest("hex").slice(0, 16);
  const at = (suffix: string): string => join(folder, `${key}${suffix}`);
  return {
    store: real,
    discovery: at(".json"),
    startLock: at(".start.lock"),
    ownerLock: at(".lock"),
    socket: (instance) => socketPathOf(folder, key, instance),
  };
}
