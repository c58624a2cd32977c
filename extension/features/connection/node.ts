/**
 * Which Node runs the daemon and the language server: the setting, else the one that set-up built for, else the first on
 * the PATH. The editor's own executable may be Electron, with another ABI and updates that end its processes: where
 * there is no other it runs the language server, which ends with the window and loads nothing native, and no daemon.
 */
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { objectOf } from "../../../shared/lib/json.ts";
import { installCommand, slower, toGpu } from "../../../shared/lib/systemWords.mjs";

export interface Places {
  /** The extension's folder: holds bin/ and dist/. */
  readonly home: string;
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The executable that runs the extension. */
  readonly editor: string;
}
export type FoundNode = { readonly path: string; readonly from: "setting" | "set-up" | "PATH" | "editor" };

const isCheckout = (home: string): boolean => existsSync(join(home, "server", "cli.ts"));

/** The folder whose node_modules holds the native packages; scripts/setup/places.mjs fills it. */
export function nativeRoot({ home, version, environment }: Places): string {
  const named = environment["GRADUS_NATIVE_ROOT"];
  if (named !== undefined && named !== "") return named;
  if (isCheckout(home)) return home;
  const shared = environment["XDG_DATA_HOME"];
  const data =
    environment["GRADUS_DATA"] ??
    join(shared === undefined || shared === "" ? join(homedir(), ".local", "share") : shared, "gradus");
  return join(data, "native-root", version);
}

/** The Node that set-up recorded; undefined when set-up has not run for this version, or that Node has gone. */
export function recordedNode(places: Places): string | undefined {
  const { path } = recorded(places, "node");
  return typeof path === "string" && existsSync(path) ? path : undefined;
}

/** What a person is told where set-up found no native engine: what a run computes on, why, and what helps. */
export function slowEngine(places: Places): string | undefined {
  const { backend, reason, mend } = recorded(places, "engine");
  if (backend !== "wasm") return undefined;
  const fix = typeof mend === "string" ? ` To fix it: ${mend}.` : "";
  return `Runs compute on WebAssembly here, ${slower}: ${String(reason)}.${fix} ${toGpu()}`;
}

/** A part of what set-up recorded. */
function recorded(places: Places, part: string): Readonly<Record<string, unknown>> {
  const file = join(nativeRoot(places), "node_modules", ".gradus", "setup.json");
  if (!existsSync(file)) return {};
  try {
    return objectOf(objectOf(JSON.parse(readFileSync(file, "utf8")))[part]);
  } catch {
    return {}; // Half written: the same as not set up, which set-up fixes.
  }
}

const executable = process.platform === "win32" ? "node.exe" : "node";

function onPath(environment: Places["environment"]): string | undefined {
  return (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, executable))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

export function findNode(places: Places, setting: string): FoundNode | undefined {
  if (setting !== "") return { path: setting, from: "setting" };
  const recorded = recordedNode(places);
  if (recorded !== undefined) return { path: recorded, from: "set-up" };
  const path = onPath(places.environment);
  return path === undefined ? undefined : { path, from: "PATH" };
}

/** Whether it can be started: a file that this user may run. */
function isProgram(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // No permission: for the person the same as no program.
  }
}

/** Editing must not depend on a setting that names nothing, nor on a Node: the language server needs no module built for its own. */
export function languageNode(places: Places, setting: string): FoundNode {
  const found = findNode(places, setting);
  const usable = found === undefined || isProgram(found.path) ? found : findNode(places, "");
  return usable ?? { path: places.editor, from: "editor" };
}
/** What an executable needs to run a script as Node does; Node itself ignores it. */
export const asNode = ({ from }: FoundNode): Readonly<Record<string, string>> =>
  from === "editor" ? { ELECTRON_RUN_AS_NODE: "1" } : {};

/** Refuses early and clearly what a daemon could not do. */
export function requireNode(node: FoundNode | undefined): FoundNode {
  if (node === undefined)
    throw new UserError("No Node was found to run the daemon.", {
      code: "node-path", // Set-up needs a Node, too: it cannot help.
      action: `To install it: ${installCommand("node")}. Or name one, 20 or newer, in the setting gradus.nodePath. Files are checked without it; runs and rewards need it.`,
    });
  if (node.from === "setting" && !isProgram(node.path))
    throw new UserError(`The setting gradus.nodePath names ${node.path}, which cannot be started.`, {
      code: "node-path",
      action: "Correct the setting, or clear it to use the Node that set-up used.",
    });
  return node;
}
