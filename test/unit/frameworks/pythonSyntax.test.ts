/** Syntax errors of Python that a reading without Python sees; what Python accepts has none. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { pythonProblem } from "../../../server/lib/python/syntax.ts";
import { diagnosed } from "../../support/frameworkFixture.ts";

const broken: Readonly<Record<string, readonly [line: number, message: string]>> = {
  "def f(a, b:\n    return 1\n": [0, "`(` is never closed"],
  "x = [1, 2)\n": [0, "`[` is closed by `)`"],
  "x = 1)\n": [0, "`)` closes nothing"],
  "x = 1\ny = 'open\n": [1, "the string that ' begins is not closed"],
  'def f():\n    """Says.\n    return 1\n': [1, 'the string that """ begins is not closed'],
  "def f(x)\n    return x\n": [0, "`def` has no `:` at its end"],
  "if True\n    x = 1\n": [0, "`if` has no `:` at its end"],
  "def f:\n    return 1\n": [0, "`def` needs a name and its parameters in brackets"],
  "def f():\nreturn 1\n": [1, "an indented block is missing after `def`"],
  "def f():\n": [0, "an indented block is missing after `def`"],
  "x = 1\n  y = 2\n": [1, "the line is indented, and nothing above it begins a block"],
  "def f():\n    x = 1\n  return x\n": [2, "the line is indented as no line above it is"],
  "def f():\n    retrun 1.0\n": [1, "`retrun 1.0`: nothing connects the two"],
  "x = f(1) y\n": [0, "`) y`: nothing connects the two"],
  "x = a ? b : c\n": [0, "`?` means nothing in Python"],
};

const accepted = [
  "match = 1\nmatch (match):\n    case 1: pass\n",
  "type X = int\n",
  "x = 0x1F + 1_000 + 2j + 1e-5 + .5 + 0b101\n",
  "x = ('a' \"b\"\n     f'{1}' 'c')\n",
  "print(f\"{x['a']} {'b'}\")\n",
  // Python 3.12: the string's own quotes, brackets in them, lines and comments inside a field.
  'print(f"{x["a"]}: {"(" if y else ")"} {{ it\'s {z!r:>{w}}")\n',
  "print(f'{\", \".join(f'{a['x']}' for a in y)}')\n",
  'print(f"{\n    len(y)  # of all\n} it\'s", f"{x:%H:%M}", f"""{x["a"]}\n\'""")\n',
  "async def f[T](x: T, *, y=lambda a: a) -> dict[str, int]: return {k: v for k, v in x if not y}\n",
  "if x: y = 1\nelse: y = 2\n",
  "def f():\n\t# a comment\n\tif x:\n\t\treturn 1\n\n\n# at the margin\n\treturn 2\n",
  "x = 1 if a else 2\nassert x, 'no'\nfrom . import a as b\n",
  "x = \\\n    1\nwith open(x) as f, y: pass\n",
  "class A: ...\nclass B(A):\n    '''It.'''\n",
  "def f():\r\n    return r'\\d' rb'x'\r\n",
];

describe("the syntax of a Python file", () => {
  for (const [text, [line, message]] of Object.entries(broken))
    it(JSON.stringify(text), () => {
      assert.deepEqual(pythonProblem(text), { line, message });
    });

  it("has no error where there is none", () => {
    for (const text of accepted) assert.equal(pythonProblem(text), undefined, text);
  });

  it("is judged as Python does, in every file of its own library that it compiles", () => {
    const list =
      "import glob, os, sysconfig; print(*sorted(glob.glob(os.path.join(sysconfig.get_path('stdlib'), '*.py')))[::4], sep='\\n')";
    const { stdout, error } = spawnSync("python3", ["-c", list], { encoding: "utf8" });
    assert.equal(error, undefined);
    const files = stdout.trim().split("\n");
    assert.ok(files.length > 20);
    for (const file of files) assert.equal(pythonProblem(readFileSync(file, "utf8")), undefined, file);
  });

  it("is an error of the script itself", () => {
    const text = readFileSync("test/fixtures/projects/trl/train.py", "utf8").replace(
      "found = [NUMBER.findall",
      "found = [NUMBER findall",
    );
    const found = diagnosed("train.py", text)?.find(({ rule }) => rule === "foreign-syntax");
    assert.equal(found?.message, "This is not valid Python: `NUMBER findall`: nothing connects the two.");
    const line = text.split("\n").findIndex((one) => one.includes("NUMBER findall"));
    assert.deepEqual([found.range.start.line, found.severity], [line, "error"]);
  });
});
