/** What a wall around a process is. */

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

export interface ToolSetting {
  readonly by: "docker" | "podman" | "bwrap";
  readonly image?: string | undefined;
}

export type SandboxSetting = "auto" | "required" | ToolSetting;
