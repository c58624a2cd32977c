// The native addon for any of the systems, built here by one pinned zig against stubs of TensorFlow's names: neither a
// compiler nor the library of that system is needed, and the same sources give the same bytes.
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { dataFolder, home } from "../setup/places.mjs";
import { must, say } from "../setup/process.mjs";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";
import { systems } from "../setup/systems.mjs";
import { fetchWheel } from "../setup/wheels.mjs";
import { takeFromWheel } from "../setup/wheelFile.mjs";

const zigVersion = "0.15.1";
/** The tags of its wheels for the systems that it runs on here. */
const zigPlatforms = {
  "linux-x64": ["manylinux_2_12_x86_64"],
  "linux-arm64": ["manylinux_2_17_aarch64"],
  "darwin-arm64": ["macosx_12_0_arm64"],
  "darwin-x64": ["macosx_12_0_x86_64"],
  "win32-x64": ["win_amd64"],
};

const here = import.meta.dirname;
const lines = (name) => readFileSync(join(here, name), "utf8").trim().split("\n");
/** TensorFlow's names that the addon wants, by the library that has them. */
const symbols = JSON.parse(readFileSync(join(here, "symbols.json"), "utf8"));
const allSymbols = [...symbols.cc, ...symbols.framework];

/** Zig is a C++ compiler for every system inside a wheel. Returns its program's path. @throws SetupError */
async function fetchZig() {
  const folder = join(dataFolder(), "zig", `${zigVersion}-whole`);
  const zig = join(folder, "ziglang", process.platform === "win32" ? "zig.exe" : "zig");
  if (existsSync(zig)) return zig;
  say(`fetching the compiler zig ${zigVersion} (a wheel of 90 MB, once)`);
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(join(dirname(folder), ".building-"));
  try {
    const platforms = zigPlatforms[`${process.platform}-${process.arch}`] ?? [];
    const wheel = await fetchWheel(
      { name: "ziglang", version: zigVersion, platforms },
      join(draft, "download"),
    );
    await takeFromWheel(wheel, draft, [["ziglang/", "ziglang/"]]);
    rmSync(wheel);
    if (process.platform !== "win32") chmodSync(join(draft, "ziglang", "zig"), 0o755);
    // Another build may have fetched it meanwhile, and a full folder is not replaced.
    if (!existsSync(zig)) putInPlace(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return zig;
}

/** What runs a build: zig, in a folder that goes afterwards, with its own cache. */
function zigIn(zig, folder) {
  const cache = join(dataFolder(), "zig", "cache");
  const env = { ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache };
  return (...words) => must(zig, words, { what: "building the addon", cwd: folder, env });
}

/** For a DLL that needs no runtime: it brings its own `_DllMainCRTStartup`. */
const bare = ["-Os", "-shared", "-nostdlib", "-fno-builtin", "-g0", "-s"];
const bareStart = "int _DllMainCRTStartup(void *module, unsigned reason, void *reserved) { return 1; }\n";

/** Builds a DLL for Windows of one text of C, for tests. */
export async function buildDll(source, file, libraries) {
  const zig = await fetchZig();
  const folder = mkdtempSync(join(dataFolder(), "zig", ".dll-"));
  try {
    writeFileSync(join(folder, "one.c"), source + bareStart);
    const linked = libraries.map((name) => `-l${name}`);
    await zigIn(zig, folder)(
      "cc",
      "-target",
      systems["win32-x64"].target,
      ...bare,
      "-o",
      "one.dll",
      "one.c",
      ...linked,
    );
    copyFileSync(join(folder, "one.dll"), file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const empty = (names) => names.map((name) => `void ${name}(void) {}\n`).join("");

/** A library that has TensorFlow's names and nothing behind them, as the linker wants to see it. */
const stubs = {
  async linux(run, target, folder) {
    const name = "libtensorflow_cc.so.2";
    writeFileSync(join(folder, "stub.c"), empty(allSymbols));
    await run("cc", "-target", target, "-shared", `-Wl,-soname,${name}`, "-o", name, "stub.c");
    return [name, "-Wl,-rpath,$ORIGIN/../../deps/lib"];
  },
  // A Mac looks a name up in the library that it was linked with: each stub has its own library's names.
  async darwin(run, target, folder) {
    const made = [];
    for (const part of ["cc", "framework"]) {
      const name = `libtensorflow_${part}.2.dylib`;
      writeFileSync(join(folder, `${part}.c`), empty(symbols[part]));
      await run(
        "cc",
        "-target",
        target,
        "-shared",
        `-Wl,-install_name,@rpath/${name}`,
        "-o",
        name,
        `${part}.c`,
      );
      made.push(name);
    }
    return [...made, "-Wl,-undefined,dynamic_lookup", "-Wl,-rpath,@loader_path/../../deps/lib"];
  },
  async win32(run, _target, folder, require) {
    const ofNode = ["js_native_api", "node_api"].flatMap((name) =>
      readFileSync(require.resolve(`node-api-headers/def/${name}.def`), "utf8")
        .split(/\r?\n/)
        .slice(2),
    );
    const imports = { "_pywrap_tensorflow_common.dll": allSymbols, "node.exe": ofNode };
    const made = [];
    for (const [library, names] of Object.entries(imports)) {
      writeFileSync(join(folder, `${library}.def`), `LIBRARY ${library}\nEXPORTS\n${names.join("\n")}\n`);
      await run("dlltool", "-m", "i386:x86-64", "-d", `${library}.def`, "-l", `${library}.lib`);
      made.push(`${library}.lib`);
    }
    return made;
  },
};

/**
 * A DLL with the names of Python that TensorFlow's library wants on Windows. Its C interface, all that the addon uses, calls
 * none of them; nobody needs a Python.
 */
async function buildPython(run, target, folder) {
  const isData = (name) => /_Type$|^PyExc_|^_Py_\w+(Struct|Object)$/.test(name);
  const source = lines("python312.txt").map((name) =>
    isData(name)
      ? `__declspec(dllexport) void *${name}[64];`
      : `__declspec(dllexport) void *${name}(void) { return 0; }`,
  );
  writeFileSync(join(folder, "python312.c"), `${source.join("\n")}\n${bareStart}`);
  await run("cc", "-target", target, ...bare, "-o", "python312.dll", "python312.c");
  return "python312.dll";
}

async function link(run, system, folder, objects, require) {
  const { target } = systems[system];
  const [platform] = system.split("-");
  const libraries = await stubs[platform](run, target, folder, require);
  const trim = platform === "darwin" ? ["-Wl,-dead_strip"] : ["-Wl,--gc-sections"];
  const name = "tfjs_binding.node";
  await run("c++", "-target", target, "-shared", "-s", ...trim, ...objects, ...libraries, "-o", name);
  return platform === "win32" ? [name, await buildPython(run, target, folder)] : [name];
}

/** The bytes of a made file, without the time that the header of a Windows program has. */
function madeBytes(file) {
  const bytes = readFileSync(file);
  if (bytes.toString("latin1", 0, 2) === "MZ") bytes.writeUInt32LE(0, bytes.readUInt32LE(0x3c) + 8);
  return bytes;
}

/**
 * Builds what `system` needs of ours, from the unmodified sources of tfjs-node-gpu.
 * @param include a folder with TensorFlow's headers, which are the same for all systems
 * @returns {name: bytes} of its files
 */
async function buildAddon(system, include, zig) {
  const require = createRequire(join(home, "package.json"));
  const source = dirname(require.resolve("@tensorflow/tfjs-node-gpu/package.json"));
  const ofNode = join(dirname(require.resolve("node-api-headers/package.json")), "include");
  const drafts = join(dataFolder(), "zig");
  const folder = mkdtempSync(join(drafts, ".addon-"));
  const run = zigIn(zig, folder);
  const { target } = systems[system];
  try {
    const flags = [
      "-std=c++17",
      "-Os",
      "-fPIC",
      "-fvisibility=hidden",
      "-ffunction-sections",
      "-fdata-sections",
    ];
    const own = ["-fno-exceptions", "-g0", "-DNAPI_VERSION=8", `-ffile-prefix-map=${source}=.`];
    const headers = [source, include, ofNode].map((place) => `-I${place}`);
    const units = ["tfjs_backend", "tfjs_binding"];
    for (const unit of units)
      await run(
        "c++",
        "-target",
        target,
        ...flags,
        ...own,
        ...headers,
        "-c",
        join(source, "binding", `${unit}.cc`),
        "-o",
        `${unit}.o`,
      );
    const names = await link(
      run,
      system,
      folder,
      units.map((unit) => `${unit}.o`),
      require,
    );
    return Object.fromEntries(names.map((name) => [name, madeBytes(join(folder, name))]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the addons of all systems below `out`, each in its own folder, and their checksums. */
export async function buildAddons(out, include, wanted = Object.keys(systems)) {
  const zig = await fetchZig();
  const sums = [];
  for (const system of wanted) {
    say(`building the addon for ${system}`);
    mkdirSync(join(out, system), { recursive: true });
    for (const [name, bytes] of Object.entries(await buildAddon(system, include, zig))) {
      writeFileSync(join(out, system, name), bytes, { mode: 0o755 });
      sums.push(`${createHash("sha256").update(bytes).digest("hex")}  ${system}/${name}\n`);
    }
  }
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
  return sums;
}
