/** Whether a configuration names a folder as the place of its output. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { smallText } from "../readers/fileReader.ts";
import { parseConfig } from "../readers/index.ts";

/** The settings of verl, TRL and OpenRLHF that say where a run writes. */
const keys =
  /(?:^|\.)(?:rollout_data_dir|validation_data_dir|default_local_dir|output_dir|save_path|ckpt_path)$/;
const anyKey = /rollout_data_dir|validation_data_dir|default_local_dir|output_dir|save_path|ckpt_path/;

/** Folders above the configuration that its command may have been started from, as for the files that it reads. */
const levels = 6;

/** The folder itself, one above it or one in it, from the configuration's own place or from one that its command is started in. */
export function writesTo(configuration: string, folder: string): boolean {
  const text = smallText(configuration);
  if (text === undefined || !anyKey.test(text)) return false;
  const named = (parseConfig(configuration, text)?.settings ?? []).flatMap(({ key, value }) =>
    keys.test(key) && typeof value === "string" && value !== "" ? [value] : [],
  );
  return startsOf(configuration).some((start) =>
    named.some((path) => isOneWay(resolve(start, path.replace(/^~(?=[\\/])/, homedir())), resolve(folder))),
  );
}

function startsOf(configuration: string): readonly string[] {
  const starts: string[] = [];
  for (let at = dirname(resolve(configuration)); starts.length < levels; at = dirname(at)) {
    starts.push(at);
    if (dirname(at) === at || existsSync(join(at, ".git"))) break;
  }
  return starts;
}

const isOneWay = (a: string, b: string): boolean => liesIn(a, b) || liesIn(b, a);

/** In the folder at any depth, or the folder itself. */
export const liesIn = (inner: string, outer: string): boolean =>
  join(resolve(inner), sep).startsWith(join(resolve(outer), sep));
