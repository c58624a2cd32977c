/** What surrounds a process that runs a model's programs. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What of a wall stands: shown by doctor and by a run's first event. */
export type WallName = "process" | "permissions" | "namespaces" | "docker" | "podman" | "bwrap";

export interface WallCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly uid?: number; readonly gid?: number; readonly cwd?: string };
}

export interface Wall {
  readonly names: readonly WallName[];
  /**
   * The command that starts `argv` (a program of Node, and what follows it) inside the wall, with the files and folders that
   * must be visible there, read-only. Standard input and output are the only pipes.
   */
  command(argv: readonly string[], visible: readonly string[]): WallCommand;
}

export type SandboxSetting =
  | "auto"
  | "required"
  | { readonly by: "docker" | "podman" | "bwrap"; readonly image?: string };

/** @throws UserError where the setting demands what this machine has not */
export async function wallOf(_setting: SandboxSetting): Promise<Wall> {
  const before = await dyingWithParent();
  return {
    names: ["process", "permissions"],
    command: ([node = "", ...rest], visible) => {
      const [file = node, ...args] = [...before, node, ...permissions(visible), ...rest];
      return { file, args, options: {} };
    },
  };
}

const permission = ["--permission", "--experimental-permission"].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

/** Node's own: reading of these files, and nothing else. */
export const permissions = (visible: readonly string[]): readonly string[] =>
  permission === undefined ? [] : [permission, ...visible.map((path) => `--allow-fs-read=${path}`)];

const setpriv = ["setpriv", "--pdeathsig", "KILL", "--"];
let found: Promise<readonly string[]> | undefined;

/** What comes before a command so that the kernel ends it with this process; nothing where the machine has no such program. */
export function dyingWithParent(): Promise<readonly string[]> {
  const [file = "", ...args] = setpriv;
  found ??= promisify(execFile)(file, [...args, process.execPath, "--version"]).then(
    () => setpriv,
    () => [],
  );
  return found;
}
