/** The addons for all systems: the same bytes twice, small, and on a Mac every name found in the library it is linked with. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { dataFolder } from "../../../server/lib/natives.ts";
import { runFolder } from "../../../server/store/files.ts";
import { untarred } from "../../support/systems/packaged.ts";
import { nodeFor } from "../../support/systems/machine.ts";
import { until } from "../../support/until.ts";
import { whyNoWheels } from "../../support/systems/wheelIndex.ts";

const home = mkdtempSync(join(tmpdir(), "gradus-addons-"));
after(() => rmSync(home, { recursive: true, force: true }));
let program: Promise<string> | undefined;
const addons = async (): Promise<string> =>
  join(await (program ??= untarred(join(home, "program"))), "dist", "addons");

test("the same sources give the same bytes in another place, with nothing kept from before", async () => {
  const data = join(home, "data");
  mkdirSync(join(data, "zig"), { recursive: true });
  for (const name of readdirSync(join(dataFolder(), "zig")).filter((one) => one.endsWith("-whole")))
    cpSync(join(dataFolder(), "zig", name), join(data, "zig", name), { recursive: true });
  const include = readdirSync(join(dataFolder(), "engine"))
    .map((name) => join(dataFolder(), "engine", name, "deps", "include"))
    .find((folder) => existsSync(folder));
  assert.ok(include, "headers of TensorFlow");
  const out = join(home, "again");
  const work = `import(${JSON.stringify(join(process.cwd(), "scripts/addon/build.mjs"))}).then((m) => m.buildAddons(${JSON.stringify(out)}, ${JSON.stringify(include)}))`;
  execFileSync(process.execPath, ["-e", work], {
    env: { ...process.env, GRADUS_DATA: data },
    stdio: "ignore",
  });
  const folder = await addons();
  assert.equal(
    readFileSync(join(out, "SHA256SUMS"), "utf8"),
    readFileSync(join(folder, "SHA256SUMS"), "utf8"),
  );
});

test("four systems take less than a megabyte of the package", async (t) => {
  const folder = await addons();
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".br"),
  );
  assert.deepEqual(files.sort(), [
    join("darwin-arm64", "tfjs_binding.node.br"),
    join("linux-arm64", "tfjs_binding.node.br"),
    join("linux-x64", "tfjs_binding.node.br"),
    join("win32-x64", "python312.dll.br"),
    join("win32-x64", "tfjs_binding.node.br"),
  ]);
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < 1e6);
});

/** An engine's folder as `gradus engine install --for` lays it out. */
async function laidOut(system: string): Promise<string> {
  const to = join(home, system);
  const gradus = join(await (program ??= untarred(join(home, "program"))), "bin", "gradus");
  execFileSync(process.execPath, [gradus, "engine", "install", "--for", system, "--to", to], {
    stdio: "pipe",
  });
  const [name = ""] = readdirSync(join(to, "engine"));
  return join(to, "engine", name);
}

/** Prints the names that an addon wants of each library and that library does not have. */
const missingOnMac = `
import sys, lief
addon, *libraries = sys.argv[1:]
binary = lief.MachO.parse(addon).at(0)
wanted = {}
for symbol in binary.imported_symbols:
    bound = symbol.binding_info
    if bound is not None and bound.has_library:
        wanted.setdefault(bound.library.name, set()).add(symbol.name)
print(sum(len(names) for name, names in wanted.items() if "tensorflow" in name))
for path in libraries:
    library = lief.MachO.parse(path).at(0)
    own = "@rpath/" + path.rsplit("/", 1)[1]
    missing = wanted.pop(own, {"no name at all"}) - {symbol.name for symbol in library.exported_symbols}
    print(*sorted(missing))
`;

test(
  "Apple silicon: the addon is signed, and each name is in the library that it is looked for in",
  { skip: whyNoWheels() },
  async () => {
    const python = join(home, "lief");
    execFileSync("python3", ["-m", "pip", "install", "-q", "--target", python, "lief"], { stdio: "ignore" });
    const folder = await laidOut("darwin-arm64");
    const lib = join(folder, "deps", "lib");
    const libraries = readdirSync(lib).map((name) => join(lib, name));
    const addon = join(folder, "lib", "napi-v8", "tfjs_binding.node");
    const env = { ...process.env, PYTHONPATH: python };
    const said = execFileSync("python3", ["-c", missingOnMac, addon, ...libraries], {
      env,
      encoding: "utf8",
    });
    assert.deepEqual(said.trimEnd().split("\n"), ["55"], "names that the libraries lack");
  },
);

const short = `model: { base: tiny }
tasks: [{ env: arithmetic }]
rollout: { prompts: 8, group: 4, max_tokens: 8 }
reward: { terms: { correct: { use: exact_match, weight: 1 } } }
stages: [{ name: practise, kind: rl, steps: 4 }]
evaluation: { every: 2, prompts: 8, pass_at: [1] }
engine: { backend: native }
seed: 1
`;
const qemu = "qemu-aarch64-static";
function whyNoArm(): string | undefined {
  if (process.platform !== "linux") return "qemu-user is for Linux";
  if (spawnSync(qemu, ["--version"]).status === 0) return whyNoWheels();
  if (process.getuid?.() === 0) {
    const packages = [
      "qemu-user-static",
      "libc6-arm64-cross",
      "libstdc++6-arm64-cross",
      "libgcc-s1-arm64-cross",
    ];
    spawnSync("apt-get", ["install", "-y", "-q", ...packages]);
  }
  return spawnSync(qemu, ["--version"]).status === 0 ? whyNoWheels() : "there is no qemu for ARM here";
}

test("Linux on ARM, by qemu: the engine multiplies, and a run on it ends", { skip: whyNoArm() }, async () => {
  const folder = await laidOut("linux-arm64");
  const arm = [qemu, "-L", "/usr/aarch64-linux-gnu", nodeFor("linux-arm64", join(home, "arm"))] as const;
  const [first, ...words] = arm;
  const addon = join(folder, "lib", "napi-v8", "tfjs_binding.node");
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: "2" };
  const run = (...rest: string[]): string =>
    execFileSync(first, [...words, ...rest], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  assert.match(run(join("scripts", "setup", "proveEngine.mjs"), addon), /^TensorFlow 2\.\S+ on the CPU/);
  const root = join(home, "arm-root");
  mkdirSync(join(root, "node_modules", ".gradus"), { recursive: true });
  const record = {
    node: { path: process.execPath, version: process.versions.node, abi: process.versions.modules },
    sqlite: { driver: "none", reason: "" },
    engine: { backend: "native", folder, reason: "" },
  };
  writeFileSync(join(root, "node_modules", ".gradus", "setup.json"), JSON.stringify(record));
  Object.assign(env, { GRADUS_NATIVE_ROOT: root });
  // The worker itself: what starts other programs of its kind would start them without qemu.
  const file = join(home, "short.gradus.yaml");
  writeFileSync(file, short);
  const of = runFolder(join(home, ".gradus"), "one");
  mkdirSync(of, { recursive: true });
  writeFileSync(
    join(of, "run.json"),
    JSON.stringify({ id: "one", file, name: "short", set: [], createdAt: "2026-01-01T00:00:00Z" }),
  );
  run(join(await program!, "dist", "cli.mjs"), "worker", of, "--attempt", "0");
  const gradus = join(await program!, "bin", "gradus");
  const inHome = { cwd: home, encoding: "utf8" } as const;
  try {
    // The store reads it as it lists.
    const list = (): string => execFileSync(process.execPath, [gradus, "runs", "list"], inHome);
    await until(() => /^one +finished +4\/4/m.test(list()), "the run to be listed as finished");
  } finally {
    execFileSync(process.execPath, [gradus, "daemon", "stop"], inHome);
  }
});
