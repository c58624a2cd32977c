// What messages say of a system: the command that installs a program there, the one that installs the engine, and where
// to train instead. JavaScript without dependencies: set-up reads it before anything is installed, and the bundles hold it.
import { existsSync, readFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";

/** How much longer a run takes on WebAssembly. */
export const slower = "ten to twenty times slower";

/**
 * The commands that install programs, and what each calls them. The first whose program is there is taken. `newerNode`, where the
 * one at hand is too old: not of those that may have brought it, as Debian's.
 */
const commands = {
  linux: {
    "snap install": { node: "node --classic", newerNode: "node --classic" },
    "apt-get install -y": {
      node: "nodejs npm",
      python: "python3-pip",
      compiler: "g++ make python3",
      browser: "chromium",
    },
    "dnf install -y": {
      node: "nodejs npm",
      python: "python3-pip",
      compiler: "gcc-c++ make python3",
      browser: "chromium",
    },
    "pacman -S --noconfirm": {
      node: "nodejs npm",
      newerNode: "nodejs npm",
      python: "python-pip",
      compiler: "base-devel python",
      browser: "chromium",
    },
    "apk add": { node: "nodejs npm", python: "py3-pip", compiler: "g++ make python3", browser: "chromium" },
  },
  darwin: {
    // On every Mac; Python comes with the compiler.
    "xcode-select": { python: "--install", compiler: "--install" },
    "brew install": { node: "node", newerNode: "node", browser: "--cask chromium" },
  },
  win32: {
    "winget install": {
      node: "OpenJS.NodeJS.LTS",
      newerNode: "OpenJS.NodeJS.LTS",
      python: "Python.Python.3.12",
      // With what node-gyp builds with.
      compiler: `Microsoft.VisualStudio.2022.BuildTools --override "--passive --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"`,
      browser: "Google.Chrome",
    },
  },
};
const fromItsSite = "install Node 20.19 or newer from nodejs.org";
const sentences = {
  node: fromItsSite,
  newerNode: fromItsSite,
  python: "install Python with pip",
  compiler: "install a C++ compiler",
  browser: "install Chromium or Chrome",
};

/** Windows brings winget along, as a link that does not always look like a file. */
const isThere = (name) =>
  process.platform === "win32" ||
  [...(process.env.PATH ?? "").split(delimiter), "/opt/homebrew/bin", "/usr/local/bin"].some(
    (folder) => folder !== "" && existsSync(join(folder, name)),
  );
const here = { platform: process.platform, root: process.getuid?.() === 0, has: isThere };

/** The command that installs a program on this system; a sentence where none of the known ones is there. */
export function installCommand(what, { platform, root, has } = here) {
  const found = Object.entries(commands[platform] ?? {}).find(
    ([command, names]) => what in names && has(command.split(" ")[0]),
  );
  if (found === undefined) return sentences[what];
  return `${platform === "linux" && !root ? "sudo " : ""}${found[0]} ${found[1][what]}`;
}

const isCheckout = (home) => home !== "" && existsSync(join(home, "server", "cli.ts"));
/** What brings back a part of the bundle that is missing. */
export const bundleFix = (home = "") =>
  isCheckout(home) ? "Build it: npm run build." : "Install Gradus again.";

/** What a person who came by npx named to it, as `gradus` or a file; undefined for others. */
function namedToNpx(home) {
  const parent = join(home, "..", "..");
  const file = join(parent, "package.json");
  if (basename(dirname(parent)) !== "_npx" || !existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8"))._npx?.packages?.[0];
}

/** What installs the engine, as a person of this installation reaches it. @param home the folder with bin/ and scripts/ */
export function engineCommand(home = "") {
  if (isCheckout(home)) return "npm run setup";
  // So the editor names what it installs; it puts no `gradus` on the PATH.
  if (basename(home).startsWith("gradus.gradus-")) return "Gradus: Set Up Compute, in the command palette";
  const named = home === "" ? undefined : namedToNpx(home);
  return named === undefined ? "gradus engine install" : `npx ${named} engine install`;
}

/** Where a system that has no engine of its own finds one. @param system as scripts/setup/systems.mjs names them */
export function elsewhere(system) {
  if (system === "win32-arm64")
    return "train in WSL, which has the engine of Linux on ARM, or on another machine by Remote-SSH or in a dev container";
  if (system.startsWith("win32"))
    return "train in WSL, or on another machine by Remote-SSH or in a dev container";
  return "train on another machine by Remote-SSH, or in a dev container of Debian or Ubuntu";
}

/** How to reach a GPU from an editor on this system. */
export const toGpu = (platform = process.platform) =>
  `For a GPU, open the folder on a machine with one: by Remote-SSH${platform === "win32" ? ", in WSL" : ""} or in a dev container.`;
