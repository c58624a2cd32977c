import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { CellTexts } from "../../../server/lib/notebook/cellText.ts";
import { cellLine, inCellWords, pythonText } from "../../../server/lib/notebook/notebook.ts";
import { notebook } from "../../support/notebooks.ts";

const moduleOf = (...cells: string[]): string => pythonText("a.ipynb", notebook(cells));
/** Of one cell, without the line that begins it. */
const bodyOf = (cell: string): string[] => moduleOf(cell).trimEnd().split("\n").slice(1);
const refused = (text: string): UserError => {
  try {
    pythonText("a.ipynb", text);
  } catch (error) {
    if (error instanceof UserError) return error;
  }
  return assert.fail("it was read");
};

describe("a notebook as a module", () => {
  it("has its code cells one after the other, and the place of each line", () => {
    const text = moduleOf("x = 1\ny = 2", "#md A title", "z = 3");
    assert.equal(text, "# %% cell 1\nx = 1\ny = 2\n# %% cell 3\nz = 3\n");
    assert.deepEqual(
      [1, 2, 4].map((line) => cellLine(text, line)),
      [
        { cell: 1, line: 0 },
        { cell: 1, line: 1 },
        { cell: 3, line: 0 },
      ],
    );
    assert.equal(cellLine("x = 1\n", 0), undefined);
  });

  it("is the same from a list of lines, with CRLF, a BOM, and when it is read again", () => {
    const wanted = moduleOf("x = 1\ny = 2");
    const json = (source: unknown): string => JSON.stringify({ cells: [{ cell_type: "code", source }] });
    for (const text of [
      json("x = 1\r\ny = 2"),
      json(["x = 1\n", "y = 2"]),
      `\uFEFF${json("x = 1\ny = 2")}`,
      json("x = 1\ny = 2").replaceAll(",", ",\r\n"),
    ])
      assert.equal(pythonText("a.ipynb", text), wanted);
    assert.equal(pythonText("a.ipynb", wanted), wanted);
    assert.equal(pythonText("a.py", "{}"), "{}");
  });

  it("keeps a line that looks like the beginning of a cell from being one", () => {
    assert.deepEqual(cellLine(moduleOf("# %% cell 9\nx = 1"), 2), { cell: 1, line: 1 });
  });

  it("is empty for another language", () => {
    const metadata = { kernelspec: { language: "julia" } };
    assert.equal(pythonText("a.ipynb", JSON.stringify({ metadata, cells: [] })), "");
  });

  it("says why a file is none, and where", () => {
    const merged = refused('{"cells": [\n<<<<<<< HEAD\n]}');
    assert.deepEqual([merged.detail.line, merged.detail.code], [1, "syntax"]);
    assert.match(merged.detail.action ?? "", /conflict/);
    assert.match(refused('{"cells": [').message, /not JSON/);
    assert.match(refused("[]").message, /no list `cells`/);
    assert.match(refused('{"worksheets": []}').detail.action ?? "", /nbconvert .* a\.ipynb/);
  });
});

describe("IPython's own lines", () => {
  it("are comments, with what they pin, and leave a branch its statement", () => {
    assert.deepEqual(bodyOf("!pip install \\\n  trl==0.22.2\nif colab:\n    %pip install vllm\nx = 1"), [
      "pass  # !pip install \\",
      "#   trl==0.22.2",
      "if colab:",
      "    pass  # %pip install vllm",
      "x = 1",
    ]);
    assert.deepEqual(bodyOf("?trainer\ntrainer.train?\npip install -q trl\ncd repo"), [
      "pass  # ?trainer",
      "pass  # trainer.train?",
      "pass  # pip install -q trl",
      "pass  # cd repo",
    ]);
    assert.deepEqual(bodyOf("files = !ls\n%time trainer.train()"), [
      "files = None  # !ls",
      "if 1: trainer.train()",
    ]);
  });

  it("are none in a text, between brackets and after a backslash", () => {
    const cell =
      'p = """\nWhy?\n!important\n%%x\n"""\nq = ("a %s"\n  % b)\nr = a \\\n  % b\ns = "[" # (\nls = [1]\ncat in x';
    assert.deepEqual(bodyOf(cell), cell.split("\n"));
    assert.deepEqual(bodyOf("p = '''a\\''' '''\n!ls").at(-1), "pass  # !ls");
  });

  it("decide of what language a cell is", () => {
    assert.deepEqual(bodyOf("\n%%capture out\n%%time\nx = 1"), ["", "# %%capture out", "# %%time", "x = 1"]);
    assert.deepEqual(bodyOf("%%bash\npip install trl==1.2"), ["# %%bash", "# pip install trl==1.2"]);
    assert.deepEqual(bodyOf("%%writefile r.py\ndef f(: pass"), ["# %%writefile r.py", "# def f(: pass"]);
  });
});

describe("a place of a cell", () => {
  const at = (line: number, from: number, to: number): { start: object; end: object } & object => ({
    start: { line, character: from },
    end: { line, character: to },
  });
  const slice = (text: string, cell: number, line: number, from: number, to: number): string => {
    const range = new CellTexts(text).range(cell, {
      start: { line, character: from },
      end: { line, character: to },
    });
    assert.ok(range);
    const lines = text.split("\n");
    assert.equal(range.start.line, range.end.line, JSON.stringify(at(line, from, to)));
    return (lines[range.start.line] ?? "").slice(range.start.character, range.end.character);
  };

  it("is found in the file's own text, behind escapes and outputs", () => {
    const text = JSON.stringify(
      {
        metadata: { source: "no", cells: [{ source: "no" }] },
        cells: [
          { cell_type: "markdown", source: "no" },
          {
            outputs: [{ source: "no", data: { "text/plain": ['"source": "\\'] } }],
            cell_type: "code",
            source: ['p = "é\\t😀"\n', "lr = 1"],
          },
          { cell_type: "code", source: "a\r\nbeta = 2" },
        ],
      },
      null,
      1,
    ).replace("é", "\\u00e9");
    assert.equal(slice(text, 2, 0, 0, 1), "p");
    assert.equal(slice(text, 2, 0, 4, 11), '\\"\\u00e9\\\\t😀\\"');
    assert.equal(slice(text, 2, 1, 5, 6), "1");
    assert.equal(slice(text, 3, 1, 0, 4), "beta");
    assert.equal(
      new CellTexts(text).range(9, { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }),
      undefined,
    );
  });

  it("takes the place of a module's line in a message", () => {
    const module = moduleOf("a = 1", "b = 2");
    const file = "/x/Qwen_(4B).ipynb";
    assert.equal(
      inCellWords("threw X (Qwen_(4B).ipynb:4)", file, module),
      "threw X (Qwen_(4B).ipynb cell 2:1)",
    );
    assert.equal(inCellWords("threw X (other.py:4)", file, module), "threw X (other.py:4)");
  });
});
