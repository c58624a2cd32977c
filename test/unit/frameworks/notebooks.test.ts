/** Notebooks of TRL: read as a script is, with places in their cells. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { convert } from "../../../server/frameworks/trainers/convert.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { inFile } from "../../../server/frameworks/text/notebook/diagnostics.ts";
import { otherTrainer } from "../../../server/frameworks/readers/otherTrainer.ts";
import { fixRounds } from "../../../server/rules/fixAll.ts";
import { notebook, tutorial } from "../../support/notebooks.ts";

const file = "/nowhere/train.ipynb";
const check = (text: string): readonly Diagnostic[] => {
  const document = readFrameworkDocument(file, text);
  assert.ok(document);
  return checkFrameworkDocument(document);
};
const misspelt = tutorial("    max_steps=100,\n    learning_rat=5e-6,");

describe("a notebook of TRL", () => {
  it("says nothing where it is healthy, and knows the release that it installs", () => {
    for (const form of ["text", "list", "crlf"] as const) {
      const text = notebook(tutorial(), form);
      assert.deepEqual(check(text), [], form);
      assert.equal(readFrameworkDocument(file, text)?.version.text, "1.2.0");
      assert.deepEqual(check(`\uFEFF${text}`), []);
    }
  });

  it("is checked at the cell and its line, in every form of its text", () => {
    for (const form of ["text", "list", "crlf"] as const) {
      const [found, ...others] = check(notebook(misspelt, form));
      assert.deepEqual(others, []);
      assert.deepEqual(
        [found?.rule, found?.cell, found?.range.start],
        ["foreign-unknown-key", 5, { line: 5, character: 4 }],
      );
    }
  });

  it("names the cell of each other place", () => {
    const cells = tutorial("    loss_type=KIND,\n    beta=0.1,");
    cells.splice(4, 0, 'KIND = "bnpoo"');
    const [found] = check(notebook(cells));
    assert.deepEqual([found?.cell, found?.range.start.line], [6, 4]);
  });

  it("reports text that is not Python at its cell", () => {
    const cells = tutorial();
    cells[3] = "def correct(completions, answer, **kwargs):\n    retrun 1.0";
    const found = check(notebook(cells)).find(({ rule }) => rule === "foreign-syntax");
    assert.deepEqual([found?.cell, found?.range.start.line], [4, 1]);
  });

  it("is fixed in its file, and no other byte changes", () => {
    for (const form of ["text", "list", "crlf"] as const) {
      const text = notebook(misspelt, form);
      const fixed = fixRounds(text, (now) => inFile(now, check(now)));
      assert.equal(fixed, text.replace("learning_rat=", "learning_rate="));
    }
  });

  it("is converted with its rewards, model and data", () => {
    const { config } = convert(file, notebook(tutorial()));
    for (const part of [
      "use: ./train.ipynb:correct",
      "use: ./train.ipynb:tagged",
      "dataset: rows.jsonl",
      "base: Qwen/Qwen2.5-0.5B-Instruct",
      "lr: 0.000005",
    ])
      assert.ok(config.includes(part), part);
  });

  it("is another's, or trains nothing that is read", () => {
    const of = (...cells: string[]): string | undefined => {
      const text = notebook(cells);
      assert.equal(readFrameworkDocument(file, text), undefined);
      return otherTrainer(file, text)?.name;
    };
    assert.equal(of("from unsloth import FastLanguageModel", "import trl"), "Unsloth");
    assert.equal(of("from swift.llm import rlhf_main"), "ms-swift");
    assert.equal(of("import pandas as pd\ndataset_name = 1"), undefined);
  });
});
