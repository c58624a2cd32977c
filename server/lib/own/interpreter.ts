/**
 * Which Python runs a user's file. It is a property of each, since no single one serves all: verl needs an older
 * one than NeMo-Gym. Only files are looked at, and `uv` is asked where a project is its own.
 */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, parse, resolve } from "node:path";
import { refuseOthers } from "../../../shared/daemon/ownership.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { statsOf } from "../inputFile.ts";
import { isPlaceholder, pythonNames, pythonsInside } from "./pythonNames.ts";
import { admit } from "./withheld.ts";

export interface Interpreter {
  /** Absolute. */
  readonly path: string;
  /** What named it: "`python` of the term", "VIRTUAL_ENV", … */
  readonly from: string;
}

interface Asked {
  /** What has the key `python`, and the code of errors; default: a reward term. */
  readonly owner?: { readonly what: string; readonly code: string };
  /** Its `python`, with the folder that it is relative to. */
  readonly named: string | undefined;
  readonly folder: string;
  /** The user's file, absolute. */
  readonly file: string;
  readonly environment?: NodeJS.ProcessEnv;
}

const windows = process.platform === "win32";
const isFile = (path: string): boolean => statsOf(path)?.isFile() === true;

const inside = (environment: string): string | undefined => pythonsInside(environment).find(isFile);

/** A copy of Windows' environment has the name as it is written there. */
function onPath(name: string, { Path = "", PATH = Path }: NodeJS.ProcessEnv): string | undefined {
  const ends = windows ? [".exe", ""] : [""];
  return PATH.split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => ends.map((end) => join(folder, name + end)))
    .find((path) => isFile(path) && !isPlaceholder(path));
}

/** The file's folder and those above it, to the one that a repository or a store begins in; never the home folder. */
function foldersAbove(file: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (folder === homedir() || folder === parse(folder).root) return folders;
    folders.push(folder);
    if ([".git", ".gradus"].some((name) => existsSync(join(folder, name)))) return folders;
  }
}

const isUvProject = (folder: string): boolean =>
  existsSync(join(folder, "uv.lock")) ||
  (isFile(join(folder, "pyproject.toml")) &&
    /^\[tool\.uv\b/m.test(readFileSync(join(folder, "pyproject.toml"), "utf8")));

function ofUv(folders: readonly string[], environment: NodeJS.ProcessEnv): string | undefined {
  const project = folders.find(isUvProject);
  const uv = onPath("uv", environment);
  if (project === undefined || uv === undefined) return undefined;
  // It starts the interpreters that the project holds or names, to look at them.
  admit("The Python that uv finds", project);
  refuseOthers(project, "project of uv");
  try {
    const path = execFileSync(uv, ["python", "find", "--project", project], {
      encoding: "utf8",
      timeout: 10_000,
      windowsHide: true,
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return isFile(path) ? path : undefined;
  } catch {
    return undefined; // it has none for the project: the next place is looked at
  }
}

function named(python: string, { folder, environment = process.env }: Asked): string | undefined {
  if (!/[/\\]/.test(python)) return onPath(python, environment);
  const path = resolve(folder, python.replace(/^~(?=[/\\])/, homedir()));
  return isFile(path) ? path : inside(path);
}

/** What a shell has chosen for the runs that it starts: the daemon that starts them may come from another. */
export function shellPython(environment: NodeJS.ProcessEnv): string | undefined {
  const { GRADUS_PYTHON, VIRTUAL_ENV } = environment;
  if (GRADUS_PYTHON) return GRADUS_PYTHON;
  return VIRTUAL_ENV ? inside(VIRTUAL_ENV) : undefined;
}

/** @throws UserError that names what was tried, or the interpreter of a folder whose programs are withheld */
export function interpreterFor(asked: Asked): Interpreter {
  const { environment = process.env, file, owner = { what: "term", code: "reward-python" } } = asked;
  const missing = (message: string): UserError => noPython(file, owner, message);
  if (asked.named !== undefined) {
    const path = named(asked.named, asked);
    if (path !== undefined) return ofFolder({ path, from: `\`python\` of the ${owner.what}` });
    throw missing(`there is no Python at \`${asked.named}\`, which the ${owner.what}'s \`python\` names`);
  }
  const chosen = environment["GRADUS_PYTHON"];
  if (chosen !== undefined && chosen !== "") {
    const path = named(chosen, asked);
    if (path !== undefined) return { path, from: "GRADUS_PYTHON" };
    throw missing(`there is no Python at \`${chosen}\`, which GRADUS_PYTHON names`);
  }
  const folders = foldersAbove(file);
  const active = environment["VIRTUAL_ENV"];
  const places: (() => Interpreter | undefined)[] = [
    () => (active ? found(inside(active), "VIRTUAL_ENV") : undefined),
    ...folders.map((folder) => () => ofEnvironment(join(folder, ".venv"))),
    () => found(ofUv(folders, environment), "uv"),
    ...pythonNames().map((name) => () => found(onPath(name, environment), "PATH")),
  ];
  for (const place of places) {
    const interpreter = place();
    if (interpreter !== undefined) return interpreter;
  }
  const tried = `VIRTUAL_ENV, \`.venv\` in ${folders.length === 0 ? dirname(file) : `${folders[0]!} and above`}, uv, and ${pythonNames().join(" and ")} on PATH`;
  throw missing(`no Python was found: looked at ${tried}`);
}

const found = (path: string | undefined, from: string): Interpreter | undefined =>
  path !== undefined && isFile(path) ? { path, from } : undefined;

/** An interpreter that the folder holds or names, not the user. @throws UserError where its programs are withheld */
function ofFolder<I extends Interpreter | undefined>(interpreter: I): I {
  if (interpreter !== undefined) admit(`The Python ${interpreter.path}`, interpreter.path);
  return interpreter;
}

function ofEnvironment(environment: string): Interpreter | undefined {
  const interpreter = ofFolder(found(inside(environment), environment));
  if (interpreter !== undefined) refuseOthers(environment, "virtual environment");
  return interpreter;
}

const noPython = (file: string, { what, code }: NonNullable<Asked["owner"]>, message: string): UserError =>
  new UserError(message, {
    file,
    code,
    action: `Install Python 3.8 or later, or name one: \`python: PATH\` at the ${what}, or GRADUS_PYTHON.`,
  });

/** That a Python lacks a package. @param name as pip knows it */
export const missingPackage = (name: string, python = pythonNames()[0]!): UserError =>
  new UserError(`${name} is not installed for ${python}`, {
    code: "python-package",
    action: `Install it with \`${copiedWord(python)} -m pip install ${name}\`, or name another Python with \`python: PATH\`.`,
  });
