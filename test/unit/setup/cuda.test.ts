/** Fetching and laying out the CUDA library, with small wheels of the same shape in the place of PyPI's. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { EngineStatus } from "../../../server/cli/engine.ts";

interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly bytes?: number;
}
type Answer = (question: string) => Promise<boolean>;
interface LibraryModule {
  readonly headerFiles: readonly string[];
  agree(found: readonly Wheel[], asking: { confirm: Answer; ask?: Answer }): Promise<void>;
  fetchLibrary(
    folder: string,
    options: { system: string; variant: "cpu" | "gpu"; confirm: Answer; compiles: boolean },
  ): Promise<void>;
}
const libraries = ["libtensorflow_cc.so.2", "libtensorflow_framework.so.2"];
const load = async <T>(name: string): Promise<T> =>
  import(pathToFileURL(join(process.cwd(), "scripts", "setup", `${name}.mjs`)).href);

const skip =
  process.platform !== "linux" || process.arch !== "x64"
    ? "there is a CUDA wheel for Linux on x64 only"
    : spawnSync("python3", ["-m", "pip", "--version"]).status === 0
      ? false
      : "no Python with pip here";

/** argv = folder, then a JSON list of {name, version, tag, requires, files}. */
const wheelMaker = `
import json, os, sys, zipfile
folder = sys.argv[1]
for wheel in json.loads(sys.argv[2]):
    name = wheel["name"].replace("-", "_")
    info = f"{name}-{wheel['version']}.dist-info"
    metadata = f"Metadata-Version: 2.1\\nName: {wheel['name']}\\nVersion: {wheel['version']}\\n" + "".join(line + "\\n" for line in wheel["metadata"])
    files = dict(wheel["files"])
    files[f"{info}/METADATA"] = metadata
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: false\\nTag: {wheel['tag']}\\n"
    with zipfile.ZipFile(os.path.join(folder, f"{name}-{wheel['version']}-{wheel['tag']}.whl"), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\\n" for path in [*files, f"{info}/RECORD"]))
`;
function makeWheels(folder: string, { headerFiles }: LibraryModule): void {
  const platform = "manylinux_2_17_x86_64";
  const nvidia = (name: string, metadata: readonly string[] = []) => ({
    name: `nvidia-${name.replaceAll("_", "-")}-cu12`,
    version: "12.9.1",
    tag: `py3-none-${platform}`,
    metadata,
    files: {
      [`nvidia/${name}/lib/lib${name}.so.12`]: name,
      [`nvidia/${name}/include/${name}.h`]: "not needed",
      "nvidia/__init__.py": "",
    },
  });
  const tensorflow = {
    name: "tensorflow",
    version: "2.21.0",
    tag: "cp311-cp311-manylinux_2_27_x86_64",
    metadata: [
      "Requires-Dist: unrelated",
      "Provides-Extra: and-cuda",
      'Requires-Dist: nvidia-cublas-cu12<13.0,>=12.5; extra == "and-cuda"',
      'Requires-Dist: nvidia-cuda-runtime-cu12; extra == "and-cuda"',
    ],
    files: Object.fromEntries([
      ...libraries.map((name) => [`tensorflow/${name}`, `library ${name}`]),
      ...headerFiles.map((name) => [`tensorflow/include/${name}`, "header"]),
      ["tensorflow/python/something.py", "not needed"],
    ]),
  };
  const unrelated = {
    name: "unrelated",
    version: "1.0",
    tag: "py3-none-any",
    metadata: [],
    files: { "a.py": "" },
  };
  const wheels = [
    tensorflow,
    unrelated,
    nvidia("cublas"),
    nvidia("cuda_runtime", ["Requires-Dist: nvidia-nvjitlink-cu12"]),
    nvidia("nvjitlink"),
  ];
  execFileSync("python3", ["-c", wheelMaker, folder, JSON.stringify(wheels)]);
}

let folder: string;
const saved = { ...process.env };
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-cuda-"));
  mkdirSync(join(folder, "wheels"));
  mkdirSync(join(folder, "empty"));
  Object.assign(process.env, { PIP_NO_INDEX: "1", PIP_FIND_LINKS: join(folder, "wheels") });
});
after(() => {
  for (const name of ["PIP_NO_INDEX", "PIP_FIND_LINKS", "GRADUS_DATA"])
    if (saved[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = saved[name];
  rmSync(folder, { recursive: true });
});
const withCuda = {
  system: "linux-x64",
  variant: "gpu",
  confirm: () => Promise.resolve(true),
  compiles: true,
} as const;

let fetched: Promise<{ engine: LibraryModule; target: string }> | undefined;
/** An engine's folder with its library, once for the tests that look into it. */
const engineFolder = () => (fetched ??= fetchedOnce());
async function fetchedOnce() {
  const engine = await load<LibraryModule>("library");
  makeWheels(join(folder, "wheels"), engine);
  const target = join(folder, "engine", "tfjs-x-gpu");
  mkdirSync(target, { recursive: true });
  await engine.fetchLibrary(target, withCuda);
  return { engine, target };
}

test(
  "the CUDA library and NVIDIA's lie where its search path looks, and nothing else does",
  { skip },
  async () => {
    const { engine, target } = await engineFolder();
    const found = (path: string): string => readFileSync(join(target, "deps", path), "utf8");
    for (const name of libraries) assert.equal(found(`lib/${name}`), `library ${name}`);
    for (const name of engine.headerFiles) assert.equal(found(`include/${name}`), "header");
    // RUNPATH of the framework library, relative to deps/lib: $ORIGIN/../nvidia/<name>/lib.
    for (const name of ["cublas", "cuda_runtime", "nvjitlink"])
      assert.equal(found(`lib/../nvidia/${name}/lib/lib${name}.so.12`), name);
    for (const none of ["nvidia/cublas/include", "python", "../download", "../report.json", "a.py"])
      assert.equal(existsSync(join(target, "deps", none)), false, none);
    const record = JSON.parse(readFileSync(join(target, "library.json"), "utf8"));
    assert.equal(record.variant, "gpu");
    assert.deepEqual(record.wheels.map(({ name }: Wheel) => name).sort(), [
      "nvidia-cublas-cu12",
      "nvidia-cuda-runtime-cu12",
      "nvidia-nvjitlink-cu12",
      "tensorflow",
    ]);
    const [first] = libraries;
    const sum = createHash("sha256").update(`library ${first}`).digest("hex");
    assert.equal(record.libraries[first!], sum);
  },
);

test("the status names each engine with its wheels, and a library that was changed", { skip }, async () => {
  const { target } = await engineFolder();
  process.env["GRADUS_DATA"] = folder;
  const { engineStatus } = await load<{
    engineStatus(options: { verify: boolean }): Promise<EngineStatus>;
  }>("status");
  const whole = await engineStatus({ verify: true });
  assert.equal(whole.engines.length, 1);
  const [built] = whole.engines;
  assert.equal(built!.variant, "gpu");
  assert.deepEqual(built!.nvidia, ["cublas", "cuda_runtime", "nvjitlink"]);
  assert.ok(built!.wheels!.some(({ name, version }) => name === "tensorflow" && version === "2.21.0"));
  assert.ok(Object.values(built!.libraries).every(({ matches }) => matches === true));
  writeFileSync(join(target, "deps", "lib", libraries[0]!), "another");
  const [changed] = (await engineStatus({ verify: true })).engines;
  assert.equal(changed!.libraries[libraries[0]!]!.matches, false);
});

test("more than a gigabyte, or an unknown size, is fetched only after a yes", async () => {
  const { agree } = await load<LibraryModule>("library");
  const wheel = (bytes: number | undefined): Wheel => ({
    name: "tensorflow",
    version: "2.21.0",
    ...(bytes === undefined ? {} : { bytes }),
  });
  const asked: string[] = [];
  const answer = (yes: boolean) => (question: string) => {
    asked.push(question);
    return Promise.resolve(yes);
  };
  await agree([wheel(3e8), wheel(3e8)], { confirm: answer(false) });
  assert.deepEqual(asked, []);
  await agree([wheel(6e8), wheel(27e8)], { confirm: answer(true) });
  assert.match(asked[0]!, /3\.3 GB will be fetched/);
  await assert.rejects(
    agree([wheel(3e8)], { confirm: answer(true), ask: answer(false) }),
    /was not fetched, as you said/,
  );
  await assert.rejects(
    agree([wheel(6e8), wheel(27e8)], { confirm: answer(false) }),
    (error: Error & { fix?: string }) => {
      assert.match(error.message, /3\.3 GB would be fetched/);
      assert.match(error.fix ?? "", /install --gpu --yes/);
      return true;
    },
  );
  await assert.rejects(agree([wheel(undefined)], { confirm: answer(false) }), /1 wheels of unknown size/);
});

test("what PyPI does not have is an error that says so", { skip }, async () => {
  const { fetchLibrary } = await load<LibraryModule>("library");
  const target = join(folder, "none");
  mkdirSync(target);
  process.env["PIP_FIND_LINKS"] = join(folder, "empty");
  await assert.rejects(fetchLibrary(target, withCuda), (error: Error & { fix?: string }) => {
    assert.match(error.message, /asking for tensorflow\[and-cuda\]==2\.21\.0 failed/);
    assert.match(error.fix ?? "", /index of Python packages can be reached/);
    return true;
  });
});
