/** Packages from PyPI that tests install for themselves, kept between runs below out/. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export interface Wanted {
  /** Releases of Python that all the packages have, the preferred first. */
  readonly versions: readonly string[];
  /** With all that they need. */
  readonly whole: readonly string[];
  /** Without what they need: their files are read. */
  readonly alone: readonly string[];
}

type Installed =
  | { readonly kind: "python"; readonly path: string }
  | { readonly kind: "none"; readonly why: string };

/** What pip says where it reaches no index. */
const unreachable =
  /NewConnectionError|ConnectTimeout|ReadTimeout|name resolution|ProxyError|SSLError|Could not fetch URL|from versions: none/;

/** Packages whose own rewards and tasks are compared with ours. */
export const rewardPackages: Wanted = {
  // verl ends below 3.13, verifiers begins at 3.11.
  versions: ["3.12", "3.11"],
  whole: [
    "verifiers==0.4.0",
    "reasoning-gym==0.1.25",
    "math-verify==0.9.0",
    "mathruler==0.1.0",
    "pylatexenc==2.10",
  ],
  // Both import torch, but not for their rewards.
  alone: ["verl==0.9.1", "trl==1.16.0"],
};

/**
 * A Python that can import some modules: with the packages if these were installed before, the one that
 * GRADUS_PEER_PYTHON names, or `python3`.
 * @param install whether the packages may be installed for it, which takes a minute
 */
export function pythonWith(modules: string, wanted: Wanted, install: boolean): Installed {
  if (install) return installed(wanted);
  for (const path of [placeOf(wanted)?.path, process.env["GRADUS_PEER_PYTHON"], "python3"])
    if (path !== undefined && spawnSync(path, ["-c", `import ${modules}`]).status === 0)
      return { kind: "python", path };
  return {
    kind: "none",
    why: `no Python here can import ${modules}; \`npm run test:long\` installs what it needs`,
  };
}

/** Where packages lie, once they are installed; undefined: no Python here can have them. */
function placeOf({ versions, whole, alone }: Wanted) {
  const python = pythonOf(versions);
  if (python === undefined) return undefined;
  const pins = JSON.stringify([python, whole, alone]);
  const folder = resolve("out", "packages", createHash("sha256").update(pins).digest("hex").slice(0, 12));
  return { python, pins, folder, path: join(folder, "bin", "python"), ready: join(folder, "installed.json") };
}

/** What is not so here skips tests by name; pins that are not installed otherwise fail them. */
export function installed(wanted: Wanted): Installed {
  const { versions, whole, alone } = wanted;
  const place = placeOf(wanted);
  if (place === undefined)
    return { kind: "none", why: `there is no Python ${versions.join(" or ")} with venv on PATH` };
  const { python, pins, folder, path, ready } = place;
  if (existsSync(ready)) return { kind: "python", path };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const asked = [
    [python, "-m", "venv", folder],
    ...(whole.length > 0 ? [[path, ...pip, ...whole]] : []),
    ...(alone.length > 0 ? [[path, ...pip, "--no-deps", ...alone]] : []),
  ];
  for (const [program = "", ...rest] of asked) {
    const { status, stderr, error } = spawnSync(program, rest, { encoding: "utf8", timeout: 900_000 });
    if (status === 0) continue;
    const said = error === undefined ? stderr : String(error);
    if (unreachable.test(said)) return { kind: "none", why: "pip reaches no package index" };
    assert.fail(`${program} ${rest.join(" ")}: ${said.slice(-2000)}`);
  }
  writeFileSync(ready, pins);
  return { kind: "python", path };
}

const pip = ["-m", "pip", "install", "--quiet", "--retries", "1", "--disable-pip-version-check"];

/** The interpreter itself: what has a release's name on PATH may be a script that looks for one. */
function pythonOf(versions: readonly string[]): string | undefined {
  const program = "import sys, venv; print('%d.%d' % sys.version_info[:2], sys.executable)";
  const named = process.env["GRADUS_PEER_PYTHON"];
  const names = [
    ...versions.map((version) => `python${version}`),
    "python3",
    ...(named === undefined ? [] : [named]),
  ];
  for (const name of names) {
    const { status, stdout } = spawnSync(name, ["-c", program], { encoding: "utf8" });
    const [version = "", path] = status === 0 ? stdout.trim().split(" ") : [];
    if (versions.includes(version)) return path;
  }
  return undefined;
}
