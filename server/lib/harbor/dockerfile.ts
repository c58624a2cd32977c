/** A Dockerfile, as far as this machine can be what it describes. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { usualPath } from "./namespaces.ts";

export interface Image {
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** In the order they are written. */
  readonly copies: readonly { readonly from: readonly string[]; readonly to: string }[];
  /** Folders that WORKDIR makes. */
  readonly folders: readonly string[];
}

/** What this machine cannot be, and the line that asks for it, from 1. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly file: string,
    readonly line: number,
  ) {
    super(message);
  }
}

interface Instruction {
  readonly word: string;
  readonly rest: string;
  readonly line: number;
}

/** Instructions with their continued lines; comments are left out. */
function instructions(text: string): Instruction[] {
  const found: Instruction[] = [];
  let open: { text: string; line: number } | undefined;
  text.split("\n").forEach((line, at) => {
    if (/^\s*#/.test(line) || (open === undefined && line.trim() === "")) return;
    const joined = open === undefined ? line : `${open.text} ${line}`;
    const from = open?.line ?? at + 1;
    if (/\\\s*$/.test(line)) {
      open = { text: joined.replace(/\\\s*$/, ""), line: from };
      return;
    }
    open = undefined;
    const match = /^\s*([A-Za-z]+)\s*([\s\S]*)$/.exec(joined);
    if (match !== null) found.push({ word: match[1]!.toUpperCase(), rest: match[2]!.trim(), line: from });
  });
  return found;
}

const plainImage = /^(?:docker\.io\/)?(?:library\/)?(debian|ubuntu|python)(?::[\w.-]+)?$/;
/** Words of a line, quotes taken away. */
const wordsOf = (text: string): string[] =>
  (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])([\s\S]*)\1$/, "$2"));

/** Whether a tree of environment variables needs more than a text: `$HOME/x`. */
const expanded = (text: string, env: Readonly<Record<string, string>>): string =>
  text.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_whole, a: string | undefined, b: string | undefined) => env[a ?? b ?? ""] ?? "",
  );

/** @throws Refused */
export function readImage(folder: string): Image {
  const file = join(folder, "Dockerfile");
  if (!existsSync(file)) return { workdir: "/", env: {}, copies: [], folders: [] };
  const refuse = (line: number, why: string): never => {
    throw new Refused(why, file, line);
  };
  let workdir = "/";
  const env: Record<string, string> = {};
  const copies: { from: readonly string[]; to: string }[] = [];
  const folders: string[] = [];
  const inside = (path: string): string => (path.startsWith("/") ? path : posix.join(workdir, path));
  let images = 0;
  for (const { word, rest, line } of instructions(readFileSync(file, "utf8"))) {
    if (word === "FROM") {
      if (!plainImage.test(rest) || ++images > 1)
        refuse(line, `FROM ${rest}: only a plain debian, ubuntu or python image can be this machine`);
    } else if (word === "WORKDIR") {
      workdir = inside(expanded(wordsOf(rest).join(" "), env));
      folders.push(workdir);
    } else if (word === "ENV") {
      for (const [name, value] of variables(rest)) env[name] = expanded(value, env);
    } else if (word === "COPY") {
      const words = rest.startsWith("[") ? (JSON.parse(rest) as string[]) : wordsOf(rest);
      if (words.length < 2 || words.some((one) => one.startsWith("--") || one.split("/").includes("..")))
        refuse(line, `COPY ${rest}: only files of the folder, without options`);
      const to = words.at(-1)!;
      copies.push({ from: words.slice(0, -1), to: inside(to) + (to.endsWith("/") || to === "." ? "/" : "") });
    } else if (word === "RUN") {
      const missing = missingOf(rest);
      if (missing !== undefined) refuse(line, `RUN ${rest}: ${missing}`);
    } else refuse(line, `${word} is not something that this machine can do`);
  }
  return { workdir, env, copies, folders };
}

function variables(rest: string): [string, string][] {
  if (!/^\w+=/.test(rest)) {
    const [name = "", ...value] = rest.split(/\s+/);
    return [[name, value.join(" ")]];
  }
  const pairs = rest.match(/\w+=(?:"[^"]*"|'[^']*'|\S*)/g) ?? [];
  return pairs.map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1).replace(/^(["'])([\s\S]*)\1$/, "$2")];
  });
}

/** Why a RUN is more than the installing of what is there; undefined: it is not. */
function missingOf(rest: string): string | undefined {
  for (const part of rest.split(/&&|;|\n/).map((one) => one.trim())) {
    const [first = "", second = "", ...more] = wordsOf(part).filter((word) => !/^[A-Z_]+=\S*$/.test(word));
    if (first === "") continue;
    const isApt = first === "apt-get" || first === "apt";
    if (isApt && ["update", "clean", "autoremove"].includes(second)) continue;
    if (first === "rm" && /^rm -rf \/var\/lib\/apt\/lists\/?\*?$/.test(part)) continue;
    const names = more.filter((word) => !word.startsWith("-"));
    if (isApt && second === "install") {
      const absent = names.find((name) => !hasPackage(name));
      if (absent !== undefined) return `the package ${absent} is not on this machine`;
      continue;
    }
    const pip = /^(?:python3? -m )?pip3? install /.exec(part);
    if (pip !== null) {
      const absent = wordsOf(part.slice(pip[0].length)).find(
        (word) => !word.startsWith("-") && !hasModule(word),
      );
      if (absent !== undefined) return `the Python package ${absent} is not on this machine`;
      continue;
    }
    return `\`${part}\` does more than install what is there`;
  }
  return undefined;
}

const asks = (program: string, args: readonly string[]): { status: number | null; stdout: string } =>
  spawnSync(program, args, { encoding: "utf8", env: { PATH: usualPath }, cwd: "/", timeout: 20_000 });

function hasPackage(name: string): boolean {
  const [plain = "", version] = name.split("=");
  const { status, stdout } = asks("dpkg-query", ["-W", "-f", "${Status} ${Version}", plain]);
  return (
    status === 0 &&
    stdout.includes("install ok installed") &&
    (version === undefined || stdout.endsWith(` ${version}`))
  );
}

function hasModule(requirement: string): boolean {
  const match = /^([\w.-]+)(?:\[[\w,.-]+\])?(?:==([\w.]+))?$/.exec(requirement);
  if (match === null) return false;
  const code = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]), end='')";
  const { status, stdout } = asks("python3", ["-c", code, match[1]!]);
  return status === 0 && (match[2] === undefined || stdout === match[2]);
}
