/** A function of a user's Python file, loaded in a warm process by the Python that is meant for it. */
import { basename, dirname } from "node:path";
import { UserError } from "../../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { Bundle } from "../../../../lib/own/bundle.ts";
import { cut } from "../../../../lib/own/cut.ts";
import { NoAnswer } from "../../../../lib/own/ownProcess.ts";
import { noneReached, reachedSeconds, type Reached } from "../reached.ts";
import type { Bound } from "./bind.ts";
import { recognised, unknownText, unprovided, type TakenParameter } from "./convention.ts";
import { inCellWords } from "../../../../lib/notebook/notebook.ts";
import { interpreterFor, type Interpreter } from "../../../../lib/own/interpreter.ts";
import { PythonProcess } from "./pythonProcess.ts";
import { pythonSource } from "./source.ts";

export interface PythonFunctionOptions {
  /** Absolute path. */
  readonly file: string;
  readonly export: string;
  readonly term: string;
  readonly args: JsonObject;
  /** The interpreter that the config names, and the folder that it is relative to. */
  readonly python: string | undefined;
  readonly folder: string;
  /** What is looked at for another, where that is not the process's own. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly messages: boolean | undefined;
}

/** Seconds for importing the module: PyTorch alone takes ten where nothing of it is in memory. */
const loadSeconds = 60;

export interface Loaded {
  readonly host: PythonProcess;
  readonly source: Bundle;
  readonly bound: Bound;
}

export class PythonFunction {
  private source: Bundle | undefined;
  private interpreter: Interpreter | undefined;
  private host: PythonProcess | undefined;
  private loaded: Loaded | undefined;

  /** Whether what its calls reach is counted. Set before it is loaded. */
  covers = false;

  constructor(private readonly options: PythonFunctionOptions) {}

  /**
   * The file as it is now: the process stays, and loads a new text before the next call.
   * @param unsaved the file's text as it is in an editor
   */
  open(unsaved?: string): Bundle {
    const source = pythonSource(this.options.file, this.options.term, unsaved);
    if (this.source?.sha256 !== source.sha256) this.source = source;
    return this.source ?? source;
  }

  /** Starts the process before it is needed. */
  warm(): PythonProcess {
    const { file, folder, python, environment = process.env } = this.options;
    this.interpreter ??= interpreterFor({ named: python, folder, file, environment });
    return (this.host ??= new PythonProcess(this.interpreter.path, dirname(file)));
  }

  /** A process with the function of the present text loaded. */
  async ready(): Promise<Loaded> {
    const source = this.source ?? this.open();
    if (this.loaded?.source === source) return this.loaded;
    const host = this.warm();
    try {
      await this.checkVersion(host);
      const { file, export: name } = this.options;
      const answer = await host.load(file, source.text, name, loadSeconds, this.covers);
      if (answer.kind === "refused") throw this.refusal(answer.message);
      const bound = this.bound(answer.parameters, answer.asynchronous);
      return (this.loaded = { host, source, bound });
    } catch (error) {
      await this.drop();
      throw error instanceof NoAnswer ? this.refusal(`loading it: ${error.message}`) : error;
    }
  }

  /** What calls have reached since this was asked last; nothing, where their process has ended. */
  async reached(): Promise<Reached> {
    if (this.loaded === undefined || !this.covers) return noneReached;
    try {
      return await this.loaded.host.reached(reachedSeconds);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      await this.drop();
      return noneReached;
    }
  }

  /** Ends the process; the next call starts another. */
  async drop(): Promise<void> {
    const { host } = this;
    [this.host, this.loaded] = [undefined, undefined];
    await host?.close();
  }

  /** The next call reads the file, and looks for its Python, as if none had been before. */
  async close(): Promise<void> {
    await this.drop();
    [this.source, this.interpreter] = [undefined, undefined];
  }

  private bound(parameters: readonly TakenParameter[], asynchronous: boolean): Bound {
    const { export: name, args, messages } = this.options;
    const found = recognised(parameters, name);
    if (found.kind !== "convention")
      throw this.error(unknownText(name, found), {
        code: "python-reward",
        action: `Write a function that calls it, and name that in \`use\`:\n${found.wrapper}`,
      });
    const missing = unprovided(found.convention, parameters, Object.keys(args));
    if (missing.length > 0)
      throw this.error(`\`${name}\` takes \`${missing.join("`, `")}\`, which nothing provides`, {
        code: "reward-load",
        action: `Set it at the term: \`args: { ${missing.map((one) => `${one}: …`).join(", ")} }\`.`,
      });
    return { convention: found.convention, parameters, args, messages, asynchronous };
  }

  private async checkVersion(host: PythonProcess): Promise<void> {
    const code = "reward-python";
    const action = "Name Python 3.8 or later with `python: PATH` at the term.";
    try {
      const version = await host.version();
      const [major = 0, minor = 0] = version.split(".").map(Number);
      if (major > 3 || (major === 3 && minor >= 8)) return;
      throw this.error(`${this.named} is Python ${version}`, { code, action });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw this.error(`${this.named} does not start: ${error.message}`, { code, action });
    }
  }

  /** A line of a notebook's module is one of its cells'. */
  inCells(message: string): string {
    return inCellWords(message, this.options.file, this.source?.text ?? "");
  }

  /** undefined until its process was started. */
  get interpreterPath(): string | undefined {
    return this.interpreter?.path;
  }

  private get named(): string {
    const { path = "python", from = "" } = this.interpreter ?? {};
    return `${path} (from ${from})`;
  }

  private refusal(message: string): UserError {
    const absent = /No module named '(\w+)/.exec(message)?.[1];
    const action =
      absent === undefined
        ? "Correct the file, or name another function with `use: file:function`."
        : `Install \`${absent}\` for ${this.named}, or name another Python with \`python: PATH\` at the term.`;
    return this.error(cut(message), { code: "reward-load", action });
  }

  private error(message: string, detail: { readonly code: string; readonly action: string }): UserError {
    const { file, term } = this.options;
    const said = this.inCells(message);
    const place = /\(([^()]+):(\d+)\)$/.exec(said);
    const line = place?.[1] === basename(file) ? { line: Number(place[2]) - 1, character: 0 } : {};
    return new UserError(`reward term "${term}": ${said}`, { file, ...line, ...detail });
  }
}
