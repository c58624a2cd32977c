/**
 * A Jupyter notebook as Python: its code cells are one module, in which a line before each cell says which one it is. So a
 * line of the module has its place in the notebook, wherever the text goes.
 */
import { basename, extname } from "node:path";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { firstWhere } from "../../../shared/lib/firstWhere.ts";
import { limits, readText } from "../inputFile.ts";
import { LineTable } from "../lines.ts";
import { pythonLines } from "./magics.ts";

export const isNotebook = (file: string): boolean => extname(file) === ".ipynb";

/** Whether a file is a program of Python, in either form. */
export const isPython = (file: string): boolean => file.endsWith(".py") || isNotebook(file);

/** Bytes that a program of Python may have: a notebook holds its pictures, too. */
export const longestSource = (file: string): number => (isNotebook(file) ? limits.notebook : limits.source);

const markOf = (cell: number): string => `# %% cell ${cell}`;
const mark = /^# %% cell (\d+)$/;

/**
 * The text of a Python file; of a notebook, its code cells as one module. What was read so already stays as it is.
 * @throws UserError where it is no notebook
 */
export const pythonText = (file: string, text: string): string =>
  !isNotebook(file) || text.trim() === "" || isModule(text) ? text : readNotebook(file, text);

/** Whether a text is a notebook's cells already, and not its file. */
export const isModule = (text: string): boolean => mark.test(text.split("\n", 1)[0] ?? "");

/** The same of a file. @throws also where it cannot be read */
export const readPython = (file: string): string => pythonText(file, readText(file, longestSource(file)));

/** @throws UserError where it is no notebook that can be read */
export function readNotebook(file: string, text: string): string {
  const notebook = parsed(file, text.replace(/^\uFEFF/, ""));
  const cells = isObject(notebook) ? notebook["cells"] : undefined;
  if (!isObject(notebook) || !Array.isArray(cells)) throw refused(file, notebook);
  if (!isOfPython(notebook["metadata"])) return "";
  return moduleOf(cells.filter(isObject).map(codeOf));
}

/** @param cells the text of each; undefined: it is no Python */
export function moduleOf(cells: readonly (string | undefined)[]): string {
  const lines = cells.flatMap((text, at) => linesOf(text ?? "", at + 1));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function parsed(file: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const conflict = /^(?:<{7}|={7}|>{7})/m.exec(text)?.index;
    const offset = conflict ?? placeIn(messageOf(error), text);
    throw new UserError(`the notebook is not JSON: ${messageOf(error).replace(/\s+/g, " ")}`, {
      file,
      ...(offset === undefined ? {} : new LineTable(text).position(offset)),
      code: "syntax",
      action:
        conflict === undefined
          ? "Restore the file, or save the notebook again in Jupyter."
          : "A merge left a conflict here: resolve it.",
      cause: error,
    });
  }
}

/** Where JSON's parser stopped. A text that is cut ends there: of that it names no place. */
function placeIn(message: string, text: string): number | undefined {
  const [, at] = /position (\d+)/.exec(message) ?? [];
  return at !== undefined ? Number(at) : /end of JSON/.test(message) ? text.trimEnd().length : undefined;
}

/** Notebooks of nbformat 3 hold their cells in `worksheets`. */
const refused = (file: string, value: Json): UserError =>
  isObject(value) && Array.isArray(value["worksheets"])
    ? new UserError("the notebook has an older format (nbformat 3), which is not read", {
        file,
        code: "syntax",
        action: `Save it in the present one: jupyter nbconvert --to notebook --nbformat 4 ${basename(file)}`,
      })
    : new UserError("this is no Jupyter notebook: it has no list `cells`", {
        file,
        code: "syntax",
        action: "Check the path, or save the notebook again in Jupyter.",
      });

/** The language that a notebook names; undefined: none, which is Python's: Colab leaves it out. */
function languageOf(metadata: Json | undefined): string | undefined {
  const of = (key: string, name: string): Json | undefined => {
    const part = isObject(metadata) ? metadata[key] : undefined;
    return isObject(part) ? part[name] : undefined;
  };
  const language = of("kernelspec", "language") ?? of("language_info", "name");
  return typeof language === "string" ? language : undefined;
}

const isOfPython = (metadata: Json | undefined): boolean => /python/i.test(languageOf(metadata) ?? "python");

/**
 * Why a notebook has nothing that is read; undefined where it has.
 * @throws UserError where it is no notebook that can be read
 */
export function whyNoCode(file: string, text: string): string | undefined {
  if (text.trim() === "") return "it is empty";
  if (readNotebook(file, text) !== "") return undefined;
  const { metadata } = parsed(file, text.replace(/^\uFEFF/, "")) as JsonObject;
  return isOfPython(metadata) ? "it has no code cells" : `its code is ${languageOf(metadata)}, and no Python`;
}

const lineBreak = /\r\n|\r|\n/;

/** `source` is one text, or a list of lines. */
function codeOf({ cell_type: type, source }: JsonObject): string | undefined {
  const text = Array.isArray(source) ? source.filter((line) => typeof line === "string").join("") : source;
  return type === "code" && typeof text === "string" ? text : undefined;
}

function linesOf(text: string, number: number): string[] {
  if (text.trim() === "") return [];
  // A line that looks like ours would move the places below it.
  const own = pythonLines(text.split(lineBreak)).map((line) => (mark.test(line) ? `${line} ` : line));
  return [markOf(number), ...own];
}

/** `line` counts from 0, in the cell; `cell` from 1, with the cells of text: as editors count them. */
export interface CellLine {
  readonly cell: number;
  readonly line: number;
}

/** A message with a line of the module at its end, `… (train.ipynb:34)`, with the cell's: `… (train.ipynb cell 4:2)`. */
export function inCellWords(message: string, file: string, module: string): string {
  const [whole = "", line] = /:(\d+)\)$/.exec(message) ?? [];
  const before = message.slice(0, message.length - whole.length);
  const place =
    isNotebook(file) && line !== undefined && before.endsWith(`(${basename(file)}`)
      ? cellLine(module, Number(line) - 1)
      : undefined;
  return place === undefined ? message : `${before} cell ${place.cell}:${place.line + 1})`;
}

interface Cells {
  readonly module: string;
  /** The lines of the module that begin a cell, and the cells' numbers. */
  readonly starts: readonly number[];
  readonly numbers: readonly number[];
}

/** The same text is asked for each of its lines. */
let last: Cells = { module: "", starts: [], numbers: [] };

function cellsOf(module: string): Cells {
  if (last.module === module) return last;
  const found = module.split("\n").flatMap((line, at) => {
    const number = mark.exec(line)?.[1];
    return number === undefined ? [] : [{ at, number: Number(number) }];
  });
  last = { module, starts: found.map(({ at }) => at), numbers: found.map(({ number }) => number) };
  return last;
}

/** The place of a module's line; undefined in a text that is no notebook's. */
export function cellLine(module: string, line: number): CellLine | undefined {
  const { starts, numbers } = cellsOf(module);
  const at = firstWhere(starts.length, (one) => (starts[one] ?? 0) > line) - 1;
  const [start, cell] = [starts[at], numbers[at]];
  return start === undefined || cell === undefined
    ? undefined
    : { cell, line: Math.max(0, line - start - 1) };
}

/** The line of the module at which a cell's text begins; undefined: the cell is no part of it. */
export function firstLine(module: string, cell: number): number | undefined {
  const { starts, numbers } = cellsOf(module);
  const start = starts[numbers.indexOf(cell)];
  return start === undefined ? undefined : start + 1;
}
