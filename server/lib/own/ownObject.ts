/** A file of the user's with an environment or a tool: loaded once to see what it is, and then in a process for each user of it. */
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { inCellWords, isPython, readPython } from "../notebook/notebook.ts";
import { pythonImports } from "../python/imports.ts";
import { bundledSources, bundleOwn, type Owner } from "./bundle.ts";
import { cut } from "./cut.ts";
import { interpreterFor } from "./interpreter.ts";
import { PythonObject, ScriptObject, type ObjectHost } from "./objectProcess.ts";
import type { LoadedObject, ObjectQuestion, ObjectRole } from "./objectWire.ts";
import { NoAnswer } from "./ownProcess.ts";
import type { Prepared } from "./prepared.ts";

export interface OwnObjectOptions {
  /** Absolute path. */
  readonly file: string;
  readonly export: string;
  readonly role: ObjectRole;
  readonly owner: Owner & {
    /** Code of errors of a Python that is missing, and of a file that does not load. */
    readonly python: string;
    readonly load: string;
  };
  /** The interpreter that the config names, and the folder that it is relative to. */
  readonly python?: string | undefined;
  readonly folder: string;
  /** Where a Python is looked for; default: where the file is. */
  readonly near?: string;
  /** Variables of a Python's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Seconds that one call may take. */
  readonly timeout: number;
}

/** Seconds for importing the file: what it imports may be slow, but not for ever. */
const loadSeconds = 60;

export interface OpenObject {
  readonly loaded: LoadedObject;
  /** @throws what the user's code did, as an Error: the process lives on, or is started again at the next call */
  ask(question: ObjectQuestion, signal?: AbortSignal): Promise<Json>;
  close(): Promise<void>;
}

export class OwnObject {
  private start: Promise<() => ObjectHost> | undefined;
  /** The process in which it was looked at, until one asks for it. */
  private first: Promise<{ readonly host: ObjectHost; readonly loaded: LoadedObject }> | undefined;

  /** What it was made of, once it was loaded. */
  made: Prepared | undefined;

  constructor(private readonly options: OwnObjectOptions) {}

  /** What the file has. @throws UserError where it does not load */
  async look(): Promise<LoadedObject> {
    return (await (this.first ??= this.started())).loaded;
  }

  /** A process of its own. @throws UserError */
  async open(): Promise<OpenObject> {
    const first = this.first;
    this.first = undefined;
    const started = await (first ?? this.started());
    const { loaded } = started;
    let { host } = started;
    let alive = true;
    return {
      loaded,
      ask: async (question, signal) => {
        if (!alive) {
          ({ host } = await this.started());
          alive = true;
        }
        try {
          return await host.ask(question, this.options.timeout, signal);
        } catch (error) {
          if (error instanceof NoAnswer) {
            alive = false;
            await host.close();
          }
          throw this.named(error, question.kind);
        }
      },
      close: () => host.close(),
    };
  }

  async close(): Promise<void> {
    const first = this.first;
    [this.first, this.start] = [undefined, undefined];
    // Whoever looked was given the failure.
    await first?.then(
      ({ host }) => host.close(),
      () => undefined,
    );
  }

  /** A line of a notebook's module is one of its cells'. */
  private inCells(message: string): string {
    const { file } = this.options;
    return inCellWords(message, file, this.made?.sources?.[0]?.text ?? "");
  }

  private named(error: unknown, call: string): unknown {
    if (!(error instanceof Error) || (error instanceof NoAnswer && error.cause_ === "aborted")) return error;
    return new Error(
      `${basename(this.options.file)}:${this.options.export}: ${call}: ${cut(this.inCells(error.message))}`,
      {
        cause: error,
      },
    );
  }

  private async started(): Promise<{ readonly host: ObjectHost; readonly loaded: LoadedObject }> {
    const { file, export: name, role } = this.options;
    const host = (await (this.start ??= this.starter()))();
    try {
      const answer = await host.load(name, role, loadSeconds);
      if (answer.kind === "loaded") return { host, loaded: answer };
      throw this.refusal(answer.message);
    } catch (error) {
      await host.close();
      throw error instanceof NoAnswer ? this.refusal(`loading ${file}: ${error.message}`) : error;
    }
  }

  private async starter(): Promise<() => ObjectHost> {
    const { file, owner, python, folder, near, environment } = this.options;
    if (!isPython(file)) {
      const bundle = await bundleOwn(file, owner);
      this.made = { bundle: bundle.sha256, sources: bundledSources(file, bundle) };
      const { text } = bundle;
      return () => new ScriptObject(text, dirname(file));
    }
    const source = { file, text: this.pythonText() };
    const { path } = interpreterFor({
      named: python,
      folder,
      file: near ?? file,
      owner: { what: owner.what, code: owner.python },
    });
    const { files, modules } = pythonImports(file, source.text);
    this.made = {
      sources: [{ path: file, text: source.text }, ...files],
      python: { path, modules },
    };
    return () => new PythonObject(path, source, { folder: dirname(near ?? file), environment });
  }

  private pythonText(): string {
    const { file, owner } = this.options;
    if (!existsSync(file))
      throw new UserError(`${owner.what}: there is no file ${file}`, {
        file,
        code: owner.missing,
        action: `Check the path in \`${owner.key}\`; it is relative to the config that names it.`,
      });
    try {
      return readPython(file);
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw new UserError(`${owner.what}: the file cannot be read: ${readFailure(error)}`, {
        file,
        code: owner.build,
        cause: error,
        action: `Name a Python file in \`${owner.key}\`.`,
      });
    }
  }

  private refusal(said: string): UserError {
    const { file, owner } = this.options;
    const message = this.inCells(said);
    const absent = /No module named '([\w.]+)/.exec(message)?.[1];
    const place = /\(([^()]+):(\d+)\)$/.exec(message);
    const line = place?.[1] === basename(file) ? { line: Number(place[2]) - 1, character: 0 } : {};
    return new UserError(`${owner.what}: ${cut(message)}`, {
      file,
      ...line,
      code: owner.load,
      action:
        absent === undefined
          ? `Correct the file, or name another export with \`${owner.key}: file:name\`.`
          : `Install \`${absent}\` for that Python, or name another with \`python: PATH\`.`,
    });
  }
}
