/** A wall by a tool that others audit: a container, or Bubblewrap. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";
import { loadedBy } from "./loadedBy.ts";
import { permissions } from "./permissions.ts";
import type { ToolSetting, Wall } from "./types.ts";
import { realPath } from "../../../../shared/lib/realPath.ts";

const major = process.versions.node.split(".")[0];

/** @throws UserError where the tool is not there */
export async function toolWall(setting: ToolSetting): Promise<Wall> {
  const { by } = setting;
  try {
    await promisify(execFile)(by, ["--version"]);
  } catch (error) {
    throw new UserError(`\`sandbox.by: ${by}\` names a program that cannot be started: ${messageOf(error)}`, {
      code: "no-sandbox-tool",
      cause: error,
      action: `Install ${by}, or write \`sandbox: required\` (Linux namespaces) or \`sandbox: auto\`.`,
    });
  }
  const args = by === "bwrap" ? await bubblewrap() : container(setting);
  return {
    names: ["process", "permissions", by],
    command: ([node = "", ...rest], visible) => ({
      file: by,
      args: args(realPath(node), visible, [...permissions(visible), ...rest]),
      options: {},
    }),
  };
}

type Arguments = (node: string, visible: readonly string[], rest: readonly string[]) => readonly string[];

const container =
  ({ image = `node:${major}-slim` }: ToolSetting): Arguments =>
  (_node, visible, rest) => [
    ...["run", "--rm", "--interactive", "--network", "none", "--read-only", "--cap-drop", "ALL"],
    ...["--security-opt", "no-new-privileges", "--pids-limit", "64", "--user", "65534:65534"],
    ...visible.flatMap((path) => ["--volume", `${path}:${path}:ro`]),
    image,
    "node",
    ...rest,
  ];

async function bubblewrap(): Promise<Arguments> {
  const loaded = await loadedBy(realPath(process.execPath));
  return (node, visible, rest) => [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...["--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"],
    ...[...new Set([...loaded, node, ...visible])].flatMap((path) => ["--ro-bind", path, path]),
    node,
    ...rest,
  ];
}
