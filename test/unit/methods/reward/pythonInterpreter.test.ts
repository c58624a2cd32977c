/** Which Python a reward gets, and what the doctor says of it. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { checkPythonRewards } from "../../../../server/cli/doctor/pythonRewards.ts";
import { interpreterFor, shellPython } from "../../../../server/lib/own/interpreter.ts";
import { pythonNames, pythonsInside } from "../../../../server/lib/own/pythonNames.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { temporary } from "../../support.ts";

const program = (path: string, text = ""): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
};

test("it is the term's, else VIRTUAL_ENV's, that of the nearest .venv, uv's, or PATH's", () => {
  const folder = temporary();
  mkdirSync(join(folder, ".git"));
  const file = join(folder, "rewards", "style.py");
  mkdirSync(dirname(file));
  const found = (PATH: string, VIRTUAL_ENV = "", named?: string): readonly [string, string] => {
    const { path, from } = interpreterFor({ named, folder, file, environment: { PATH, VIRTUAL_ENV } });
    return [path, from];
  };
  assert.throws(
    () => found(""),
    /no Python was found: looked at VIRTUAL_ENV, `\.venv` in .*rewards and above, uv, and/,
  );
  const plain = program(join(folder, "bin/python"));
  assert.deepEqual(found(join(folder, "bin")), [plain, "PATH"]);
  const three = program(join(folder, "bin/python3"));
  assert.deepEqual(found(join(folder, "bin")), [three, "PATH"]);
  const managed = program(join(folder, "managed/python3"));
  program(
    join(folder, "bin/uv"),
    `#!/bin/sh\n[ "$1 $2 $3 $4" = "python find --project ${folder}" ] && echo "${managed}"\n`,
  );
  assert.deepEqual(found(join(folder, "bin")), [three, "PATH"]);
  writeFileSync(join(folder, "pyproject.toml"), "[project]\nname = 'a'\n[tool.uv]\n");
  assert.deepEqual(found(join(folder, "bin")), [managed, "uv"]);
  const outer = program(join(folder, ".venv/bin/python"));
  assert.deepEqual(found(join(folder, "bin")), [outer, join(folder, ".venv")]);
  const inner = program(join(folder, "rewards/.venv/bin/python"));
  assert.deepEqual(found(join(folder, "bin")), [inner, join(folder, "rewards/.venv")]);
  const active = program(join(folder, "active/bin/python"));
  assert.deepEqual(found(join(folder, "bin"), join(folder, "active")), [active, "VIRTUAL_ENV"]);
  const chosen = { PATH: join(folder, "bin"), VIRTUAL_ENV: join(folder, "active"), GRADUS_PYTHON: three };
  const { path, from } = interpreterFor({ named: undefined, folder, file, environment: chosen });
  assert.deepEqual([path, from], [three, "GRADUS_PYTHON"]);
  assert.deepEqual(
    [shellPython(chosen), shellPython({ VIRTUAL_ENV: join(folder, "active") }), shellPython({})],
    [three, active, undefined],
  );
  for (const named of ["./active", "active/bin/python"])
    assert.deepEqual(found(join(folder, "bin"), "", named), [active, "`python` of the term"]);
  assert.deepEqual(found(join(folder, "bin"), "", "python"), [plain, "`python` of the term"]);
  assert.throws(() => found("", "", "./nowhere"), /there is no Python at `\.\/nowhere`/);
});

test("each system has its names, and its places in an environment", () => {
  const names = Object.fromEntries(
    (["linux", "darwin", "win32"] as const).map((platform) => [
      platform,
      [pythonNames(platform), pythonsInside("env", platform).map((path) => path.replaceAll("\\", "/"))],
    ]),
  );
  const unix = [["python3", "python"], ["env/bin/python"]];
  const windows = [
    ["python", "python3", "py"],
    ["env/Scripts/python.exe", "env/python.exe"],
  ];
  assert.deepEqual(names, { linux: unix, darwin: unix, win32: windows });
});

test("what only opens Windows' Store is no Python, what the Store installed is one", () => {
  const folder = temporary();
  const [store, other] = ["WindowsApps", "bin"].map((name) => program(join(folder, name, "python3")));
  const PATH = [dirname(store!), dirname(other!)].join(delimiter);
  const found = (environment: NodeJS.ProcessEnv): string =>
    interpreterFor({ named: undefined, folder, file: join(folder, "a.py"), environment }).path;
  mkdirSync(join(folder, ".git"));
  assert.equal(found({ PATH }), other);
  assert.equal(found({ Path: PATH }), other, "as a copy of Windows' environment names it");
  assert.throws(() => found({ PATH: dirname(store!) }), /no Python was found/);
  mkdirSync(join(folder, "WindowsApps", "PythonSoftwareFoundation.Python.3.12_qbz5n2kfra8p0"));
  assert.equal(found({ PATH }), store);
  writeFileSync(join(folder, "file"), "");
  assert.equal(
    found({ PATH: [join(folder, "file", "below"), PATH].join(delimiter) }),
    store,
    "cannot be looked at",
  );
});

describe("the doctor", { skip: withoutPython }, () => {
  test("names the Python of each reward, and the packages that it lacks, without running the file", async () => {
    const folder = temporary();
    writeFileSync(join(folder, "helper.py"), "");
    writeFileSync(
      join(folder, "good.py"),
      "import json, helper\nfrom collections.abc import Callable\nopen('ran', 'w')\ndef compute_score(response): return 1\n",
    );
    writeFileSync(
      join(folder, "poor.py"),
      "import os, absent_one.part\nfrom absent_two import x\ntry:\n    import absent_three\nexcept ImportError:\n    pass\ndef compute_score(response): return absent_one, x\n",
    );
    const config = join(folder, "a.gradus.yaml");
    writeFileSync(
      config,
      "tasks: [{ env: countdown }]\nreward:\n  terms:\n    good: ./good.py\n    poor: ./poor.py\n    other: { use: ./good.py, python: ./nowhere, weight: 2 }\n",
    );
    const [good, poor, other] = await checkPythonRewards(config);
    assert.equal(good?.status, "ok");
    assert.match(good?.detail ?? "", /^Python 3\.\d+\.\d+, \/.* \(from .*\), has all that it imports$/);
    assert.deepEqual({ name: poor?.name, status: poor?.status }, { name: "reward poor", status: "missing" });
    assert.match(poor?.detail ?? "", /, lacks absent_one, absent_two$/);
    assert.match(poor?.fix ?? "", /^\/.* -m pip install absent_one absent_two$/);
    assert.match(other?.detail ?? "", /there is no Python at `\.\/nowhere`/);
  });
});
