/** Commands on a notebook of TRL. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { notebook, tutorial } from "../../support/notebooks.ts";

let folder = "";
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const failing = tutorial();
failing[3] = `${failing[3] ?? ""}\n\ndef tagged(completions, **kwargs):\n    return [1 / 0 for c in completions]`;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-notebooks-"));
  const rows = [1, 2, 3].map((n) => JSON.stringify({ prompt: `What is ${n} + ${n}?`, answer: `${2 * n}` }));
  write("rows.jsonl", `${rows.join("\n")}\n`);
  write("healthy.ipynb", notebook(tutorial()));
  write("misspelt.ipynb", notebook(tutorial("    max_step=100,"), "text"));
  write("failing.ipynb", notebook(failing));
  write("broken.ipynb", notebook(tutorial()).slice(0, -40));
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe("commands on a notebook", () => {
  it("check it at cell and line, and say where a file is none", async () => {
    const { code, stderr } = await gradus(["validate", "."], folder);
    assert.equal(code, 1);
    assert.match(stderr, /^misspelt\.ipynb cell 5:5: error: TRL 1\.2\.0 has no `max_step`/m);
    assert.match(stderr, /^broken\.ipynb:.*error: the notebook is not JSON/m);
    assert.doesNotMatch(stderr, /healthy|failing/);
  });

  it("say why one that is named has nothing to check, in text and JSON", async () => {
    const julia = {
      cells: [{ cell_type: "code", source: "x = 1" }],
      metadata: { kernelspec: { language: "julia" } },
    };
    for (const [name, text, why] of [
      ["noted.ipynb", notebook(["#md # GRPO", "#md import trl"]), "it has no code cells"],
      ["julia.ipynb", JSON.stringify(julia), "its code is julia, and no Python"],
      ["blank.ipynb", "\n", "it is empty"],
    ] as const) {
      write(name, text);
      for (const command of ["check", "validate"]) {
        const { code, stderr } = await gradus([command, name], folder);
        assert.deepEqual([code, stderr], [2, `${name}: not checked: ${why}.\n`]);
        const { stdout } = await gradus([command, name, "--json"], folder);
        assert.ok(
          stdout.includes(command === "check" ? `not checked: ${why}.` : `"reason":"${why}"`),
          stdout,
        );
      }
    }
  });

  it("say at which line one is cut, whatever it holds", async () => {
    const whole = notebook(["#md # Notes\nof a day", "import re"]);
    write("cut.ipynb", whole.slice(0, whole.indexOf("of a day")));
    const line = whole.slice(0, whole.indexOf("of a day")).split("\n").length;
    for (const command of ["check", "validate"]) {
      const { code, stdout, stderr } = await gradus([command, "cut.ipynb"], folder);
      assert.equal(code, 1);
      assert.match(
        `${stdout}${stderr}`,
        new RegExp(`^cut\\.ipynb:${line}\\b.*the notebook is not JSON: `, "m"),
      );
      const json = await gradus([command, "cut.ipynb", "--json"], folder);
      assert.match(json.stdout, /the notebook is not JSON: /);
    }
  });

  it("give the cell in JSON and, in SARIF, the file's own line too", async () => {
    const json = await gradus(["validate", "misspelt.ipynb", "--json"], folder);
    assert.match(json.stdout, /"cell":5,"range":\{"start":\{"line":4,"character":4\}/);
    const { stdout } = await gradus(["validate", "misspelt.ipynb", "--format", "sarif"], folder);
    const lines = readFileSync(join(folder, "misspelt.ipynb"), "utf8").split("\n");
    const line = lines.findIndex((one) => one.includes("max_step=")) + 1;
    assert.ok(stdout.includes(`"startLine":${line},`));
    assert.match(stdout, /\{"name":"cell 5","kind":"cell"\}/);
  });

  it("fix it and leave the rest of the file", async () => {
    const text = notebook(tutorial("    max_step=100,"));
    write("fixed.ipynb", text);
    assert.equal((await gradus(["validate", "fixed.ipynb", "--fix"], folder)).code, 0);
    assert.equal(readFileSync(join(folder, "fixed.ipynb"), "utf8"), text.replace("max_step=", "max_steps="));
  });

  it("run its rewards, and name the cell of the line that threw", async () => {
    const { code, stdout } = await gradus(["reward", "healthy.ipynb", "--gold", "--probe"], folder);
    assert.match(stdout, /3 of 3 gold answers/);
    assert.equal(code, 0, stdout);
    const failed = await gradus(["reward", "failing.ipynb", "--gold"], folder);
    assert.equal(failed.code, 1);
    assert.match(
      failed.stderr,
      /^failing\.ipynb cell 4:11: error: `tagged` fails on all .*ZeroDivisionError/m,
    );
  });
});
