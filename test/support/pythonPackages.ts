/** Packages from PyPI that tests install for themselves, kept between runs below out/. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

interface Wanted {
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

/** What is not so here skips tests by name; pins that are not installed otherwise fail them. */
export function installed({ versions, whole, alone }: Wanted): Installed {
  const python = pythonOf(versions);
  if (python === undefined)
    return { kind: "none", why: `there is no Python ${versions.join(" or ")} with venv on PATH` };
  const pins = JSON.stringify([python, whole, alone]);
  const folder = resolve("out", "packages", createHash("sha256").update(pins).digest("hex").slice(0, 12));
  const path = join(folder, "bin", "python");
  const ready = join(folder, "installed.json");
  if (existsSync(ready)) return { kind: "python", path };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const asked = [
    [python, "-m", "venv", folder],
    [path, ...pip, ...whole],
    [path, ...pip, "--no-deps", ...alone],
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
