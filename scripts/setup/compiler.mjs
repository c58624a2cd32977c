// Finding a C++ compiler and a pip.
import { answers, hidden } from "./process.mjs";

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
  const names = process.platform === "win32" ? ["python", "python3", "py"] : ["python3", "python"];
  const python = names.find((name) => answers(name, ["-m", "pip", "--version"]));
  return python === undefined ? undefined : [python, "-m", "pip"];
}

/** uv's way to start pip, where there is uv alone; or undefined. */
export const findUv = () =>
  !hidden("uv") && answers("uv") ? ["uv", "tool", "run", "--quiet", "pip"] : undefined;
