// Finding a C++ compiler and a pip. GRADUS_WITHOUT=compiler,pip hides them, to try the ways without.
import { join } from "node:path";
import { existsSync } from "node:fs";
import { dataFolder } from "./places.mjs";
import { answers, attempt, say } from "./process.mjs";

const hidden = (name) => (process.env.GRADUS_WITHOUT ?? "").split(",").includes(name);

/** [command, ...arguments] of a compiler that is on this machine, or undefined. */
export function findCompiler() {
  if (hidden("compiler")) return undefined;
  const names = [process.env.CXX, "g++", "c++", "clang++"].filter(Boolean);
  const found = names.find((name) => answers(name));
  return found === undefined ? undefined : [found];
}

/** [python, "-m", "pip"] or undefined. */
export function findPip() {
  if (hidden("pip")) return undefined;
  const python = ["python3", "python"].find((name) => answers(name, ["-m", "pip", "--version"]));
  return python === undefined ? undefined : [python, "-m", "pip"];
}

export const zigVersion = "0.15.1";

/** Zig is a C++ compiler inside a wheel: the last way where the system has none. */
export async function fetchZig(pip) {
  const folder = join(dataFolder(), "zig", zigVersion);
  const binary = join(folder, "ziglang", process.platform === "win32" ? "zig.exe" : "zig");
  if (!existsSync(binary)) {
    say(`no C++ compiler found; fetching one from PyPI (ziglang ${zigVersion})`);
    const { status } = await attempt(pip[0], [
      ...pip.slice(1),
      "install",
      "-q",
      "--disable-pip-version-check",
      "--no-deps",
      "--target",
      folder,
      `ziglang==${zigVersion}`,
    ]);
    if (status !== 0) return undefined;
  }
  return answers(binary, ["version"]) ? [binary, "c++"] : undefined;
}

/** The command that installs a compiler on this system. */
export const compilerFix = () =>
  process.platform === "darwin"
    ? "xcode-select --install"
    : process.platform === "win32"
      ? "winget install LLVM.LLVM"
      : `${process.getuid?.() === 0 ? "" : "sudo "}apt-get install -y g++ python3-pip`;
