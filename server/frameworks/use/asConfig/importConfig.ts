/** The config that a folder of another program's run belongs to, as an import takes it. */
import { dirname, resolve } from "node:path";
import { needs } from "../../../config/needs.ts";
import type { Writer } from "../../../../shared/run/origin.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { limits, readText, statsOf } from "../../../lib/inputFile.ts";
import { asConfig } from "./convertFile.ts";
import { loadFile } from "./load.ts";
import { parseConfig } from "../../readers/index.ts";
import { versionOf } from "../../releases/version.ts";
import { configNear } from "./configNear.ts";

export interface ImportConfig {
  /** Absolute. */
  readonly file: string;
  /** Of another trainer's file: the config that it amounts to. */
  readonly text: string;
  readonly set: readonly string[];
  readonly loaded: RunConfig;
  /** Release of the trainer that it is for, where it says so. */
  readonly version: string | null;
  /** The trainer's own script or file: rewards have the names that its dumps give them. */
  readonly converted: boolean;
}

export interface ConfigForImport {
  readonly config?: ImportConfig | undefined;
  /** Why nothing of what lies near the folder is used. */
  readonly note?: string;
}

/** Whose files a run of each may come from. A tracker's own files say what they belong to. */
const writers: Readonly<Record<Writer, Parameters<typeof configNear>[1]>> = {
  verl: ["verl"],
  trl: ["trl"],
  hook: ["trl", "verl", "openrlhf"],
  prime_rl: [],
  tensorboard: [],
  trackio: [],
  wandb: [],
  verifiers: [],
  tinker: [],
  inspect: [],
};

const name = "name the run's with --config";

/**
 * What lies near what is imported: of a file, in its folder.
 * @param place the folder, or the file
 * @param shown a path as a message has it
 */
export function nearConfig(
  place: string,
  trainer: Writer,
  set: readonly string[],
  shown: (path: string) => string,
): ConfigForImport {
  // A tracker's may be a file, next to which nothing belongs to it.
  if (writers[trainer].length === 0) return {};
  const folder = statsOf(place)?.isFile() === true ? dirname(resolve(place)) : place;
  const near = configNear(folder, writers[trainer]);
  switch (near.kind) {
    case "none":
      return {};
    case "several":
      return { note: `several configs lie near the folder (${near.files.map(shown).join(", ")}): ${name}` };
    case "one": {
      const { config: loaded, diagnostics } = loadFile(near.file, {
        set,
        recorded: true,
        needs: needs.explained,
      });
      if (loaded !== undefined) return { config: importConfig(near.file, set, loaded) };
      const [first] = diagnostics.filter(({ severity }) => severity === "error");
      return {
        note: `${shown(near.file)} lies near the folder and has errors (${first?.message ?? "it does not load"}): ${name}`,
      };
    }
  }
}

export function importConfig(file: string, set: readonly string[], loaded: RunConfig): ImportConfig {
  const path = resolve(file);
  const text = readText(path, limits.source);
  const converted = asConfig(path, text, set);
  return {
    file: path,
    text: converted?.config ?? text,
    set,
    loaded,
    version: converted === undefined ? null : releaseOf(path, text),
    converted: converted !== undefined,
  };
}

/** The trainer's, where the script or what is next to it says so. */
function releaseOf(file: string, text: string): string | null {
  const written = parseConfig(file, text);
  if (written === undefined) return null;
  const release = versionOf(written.framework, file, text);
  return release.from === "newest" ? null : release.text;
}
