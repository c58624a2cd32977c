/** What surrounds a process that runs a model's programs. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UserError } from "../../../../shared/lib/errors.ts";
import { Namespaces } from "./namespaces.ts";
import { permissions } from "./permissions.ts";
import { toolWall } from "./toolWall.ts";
import type { SandboxSetting, Wall } from "./types.ts";
import { realPath } from "../../../../shared/lib/realPath.ts";

export type { SandboxSetting, Wall, WallCommand, WallName } from "./types.ts";

let namespaces: Promise<Namespaces | undefined> | undefined;
/** Asked once: they stand or not as long as the machine runs. */
const ownNamespaces = (): Promise<Namespaces | undefined> =>
  (namespaces ??= Namespaces.of(realPath(process.execPath)));

/** @throws UserError where the setting demands what this machine has not */
export async function wallOf(setting: SandboxSetting): Promise<Wall> {
  if (typeof setting === "object") return toolWall(setting);
  const [before, own] = await Promise.all([dyingWithParent(), ownNamespaces()]);
  if (setting === "required" && own === undefined)
    throw new UserError("This machine gives no namespaces to keep programs of models in", {
      code: "no-namespaces",
      action:
        "Allow them on Linux (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0), name a tool in `sandbox.by`, or write `sandbox: auto`.",
    });
  return {
    names: own === undefined ? ["process", "permissions"] : ["process", "permissions", "namespaces"],
    command: ([node = "", ...rest], visible) => {
      const plain = [realPath(node), ...permissions(visible), ...rest];
      const [file = node, ...args] = [...before, ...(own?.around(plain, visible) ?? plain)];
      return { file, args, options: {} };
    },
  };
}

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
