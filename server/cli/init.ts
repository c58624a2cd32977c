import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { slower } from "../../shared/lib/systemWords.mjs";
import { setupRecord } from "../lib/natives.ts";
import { listPresets, presetNamed } from "../config/presets.ts";
import { nearest } from "../lib/suggest.ts";
import { print, printJson, type Command } from "./command.ts";
import { agentSkill, skillPath } from "./text/agentSkill.ts";
import { pathText } from "./text/diagnostics.ts";
import { checking } from "./starter/checking.ts";
import { configName, files, testName } from "./starter/files.ts";

interface Options {
  readonly from: string;
  readonly agent?: boolean;
  readonly json?: boolean;
}

export const command: Command = {
  name: "init",
  configure: (program) => {
    program
      .argument("[folder]", "folder to write to", folderName, ".")
      .option("--from <preset>", "the preset to start from", knownPreset, "sec")
      .addOption(
        new Option(
          "--agent",
          "write nothing but a skill for coding agents: how to use Gradus here",
        ).conflicts("from"),
      )
      .option("--json", "one JSON value: the files written")
      .action((folder: string, options: Options) => init(folder, options));
  },
};

function init(folder: string, { from, agent, json }: Options): void {
  if (agent === true) {
    const written = write(
      folder,
      { [skillPath(folder)]: agentSkill },
      "Delete it first, if an earlier version wrote it, or name another folder: gradus init FOLDER --agent.",
    );
    if (json === true) return printJson({ files: written });
    for (const file of written) print(`wrote ${pathText(file)}`);
    return print("\nNext: name the agent a server of tools (MCP): command `gradus`, argument `mcp`.");
  }
  const texts = files(from, checking(join(folder, configName)));
  const written = write(folder, texts, "Choose another folder: gradus init FOLDER.");
  if (json === true) return printJson({ preset: from, files: written });
  for (const file of written) print(`wrote ${pathText(file)}`);
  print(`\n${nextSteps(folder, Object.keys(texts)).join("\n")}`);
}

const minuteText = (): string =>
  setupRecord()?.engine.backend === "wasm"
    ? `: about a quarter of an hour on WebAssembly, which is ${slower}`
    : ": about a minute on two cores";

/** What to do with what was written, one command a line. */
function nextSteps(folder: string, [name = configName, ...others]: readonly string[]): string[] {
  const config = quoted(pathText(join(folder, name)));
  const minute = name === configName ? minuteText() : "";
  const steps: readonly (readonly [string, string])[] = [
    [`gradus validate ${config}`, "check it before anything runs"],
    [`gradus run ${config} --dry-run`, "run one step: values of each reward term, time, memory"],
    [`gradus run ${config}`, `train it and follow it${minute}`],
    ...(others.includes(testName)
      ? [
          [
            `node --test ${quoted(pathText(join(folder, testName)))}`,
            "the reward's own test (Node 22.18 or newer)",
          ] as const,
        ]
      : []),
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  return ["Next:", ...steps.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`)];
}

/** As a shell reads it. */
const quoted = (path: string): string => (/^[\w./:\\-]+$/.test(path) ? path : JSON.stringify(path));

export function knownPreset(id: string): string {
  if (presetNamed(id) !== undefined) return id;
  const ids = listPresets().map((preset) => preset.id);
  const meant = nearest(id, ids);
  throw new InvalidArgumentError(
    `${meant === undefined ? "" : `Did you mean \`${meant}\`? `}Presets: ${ids.join(", ")}.`,
  );
}

/** `gradus init my.gradus.yaml` would make a folder of that name. */
function folderName(name: string): string {
  if (/\.ya?ml$/.test(name) && !existsSync(name))
    throw new InvalidArgumentError(`Name the folder to write to; the config is always called ${configName}.`);
  return name;
}

/**
 * Writes every file or, where one is there already, none.
 *
 * @param texts by path in the folder
 * @param otherwise what to do where one is there
 */
function write(folder: string, texts: Readonly<Record<string, string>>, otherwise: string): string[] {
  const wanted = Object.entries(texts).map(([name, text]) => ({ path: join(folder, name), text }));
  const there = wanted.filter(({ path }) => existsSync(path));
  if (there.length > 0) {
    const list = there.map(({ path }) => pathText(path)).join(", ");
    throw new UserError(
      `${list} ${there.length === 1 ? "exists" : "exist"} already, and nothing is overwritten`,
      { code: "exists", action: otherwise },
    );
  }
  for (const { path, text } of wanted) {
    try {
      mkdirSync(dirname(path), { recursive: true });
      // `wx`: a file that appeared meanwhile is not overwritten either.
      writeFileSync(path, text, { flag: "wx" });
    } catch (error) {
      throw new UserError(`${pathText(path)} cannot be written: ${messageOf(error)}`, {
        code: "write",
        cause: error,
        action: "Choose a folder that you may write to.",
      });
    }
  }
  return wanted.map(({ path }) => path);
}
