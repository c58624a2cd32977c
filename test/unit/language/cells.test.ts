/** Requests about a cell as its module's, and answers back: of any feature, those that scripts do not have yet included. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CodeAction, CodeLens, Location, Range } from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import { CellModule } from "../../../server/language/notebooks/cellModule.ts";
import { inCells, inModule } from "../../../server/language/notebooks/translate.ts";

const uriOf = (number: number): string => `vscode-notebook-cell:/train.ipynb#W${number}`;
const notebook = "file:///train.ipynb";
/** Undefined: a cell of text. In the module `x = 1` is line 1, `!ls` line 3, `y = 2` line 5. */
const texts = [undefined, "x = 1", "!ls", "y = 2\r\nz = 3"];
const module = new CellModule(
  notebook,
  1,
  texts.map((text, at) => ({
    uri: uriOf(at + 1),
    document: text === undefined ? undefined : TextDocument.create(uriOf(at + 1), "python", 1, text),
  })),
);
const range = (line: number, start: number, end: number, endLine = line): Range => ({
  start: { line, character: start },
  end: { line: endLine, character: end },
});

describe("a request about a cell", () => {
  it("is about the module, with every place in it", () => {
    const params = {
      textDocument: { uri: uriOf(4) },
      position: { line: 1, character: 2 },
      context: {
        diagnostics: [
          { range: range(0, 0, 1), message: "m", related: [{ uri: uriOf(2), range: range(0, 4, 5) }] },
        ],
      },
    };
    assert.deepEqual(inModule(params, module, uriOf(4)), {
      textDocument: { uri: notebook },
      position: { line: 6, character: 2 },
      context: {
        diagnostics: [
          { range: range(5, 0, 1), message: "m", related: [{ uri: notebook, range: range(1, 4, 5) }] },
        ],
      },
    });
  });

  it("is none of the module's, of a cell of text", () => {
    const params = { textDocument: { uri: uriOf(1) }, position: { line: 0, character: 0 } };
    assert.equal(inModule(params, module, uriOf(1)), undefined);
  });
});

describe("an answer about the module", () => {
  it("leaves out what lies in other cells", () => {
    const lenses: CodeLens[] = [1, 5, 6].map((line) => ({ range: range(line, 0, 0) }));
    assert.deepEqual(inCells(lenses, module, uriOf(4)), [
      { range: range(0, 0, 0) },
      { range: range(1, 0, 0) },
    ]);
    assert.equal(inCells({ contents: "x", range: range(1, 0, 1) }, module, uriOf(4)), undefined);
    assert.deepEqual(inCells({ contents: "x" }, module, uriOf(4)), { contents: "x" });
    const hints = [{ position: { line: 6, character: 5 }, label: "3" }];
    assert.deepEqual(inCells(hints, module, uriOf(4)), [{ position: { line: 1, character: 5 }, label: "3" }]);
  });

  it("leads to other cells and files", () => {
    const other: Location = { uri: "file:///reward.py", range: range(3, 0, 4) };
    assert.deepEqual(inCells([{ uri: notebook, range: range(1, 0, 1) }, other], module, uriOf(4)), [
      { uri: uriOf(2), range: range(0, 0, 1) },
      other,
    ]);
  });

  it("edits each cell, and no farther than it goes", () => {
    const edits = [1, 6].map((line) => ({ range: range(line, 0, 1), newText: "n" }));
    const action: CodeAction = { title: "Rename", edit: { changes: { [notebook]: edits } } };
    assert.deepEqual(inCells(action, module, uriOf(4))?.edit?.changes, {
      [uriOf(2)]: [{ range: range(0, 0, 1), newText: "n" }],
      [uriOf(4)]: [{ range: range(1, 0, 1), newText: "n" }],
    });
    const line = { range: range(1, 0, 0, 2), newText: "" };
    const removal: CodeAction = { title: "Remove", edit: { changes: { [notebook]: [line] } } };
    assert.deepEqual(inCells(removal, module, uriOf(2))?.edit?.changes, {
      [uriOf(2)]: [{ range: range(0, 0, 5), newText: "" }],
    });
  });
});
