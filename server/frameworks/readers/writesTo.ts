/** Whether a configuration names a folder as the place of its output. */
import { resolve } from "node:path";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { smallText } from "../text/fileReader.ts";
import { parseConfig } from "./index.ts";
import { expanded, startFolders } from "./verlFiles.ts";

/** The settings of verl, TRL and OpenRLHF that say where a run writes. */
const keys =
  /(?:^|\.)(?:rollout_data_dir|validation_data_dir|default_local_dir|output_dir|save_path|ckpt_path)$/;
const anyKey = /rollout_data_dir|validation_data_dir|default_local_dir|output_dir|save_path|ckpt_path/;

/** The folder itself, one above it or one in it, from the configuration's own place or from one that its command is started in. */
export function writesTo(configuration: string, folder: string): boolean {
  const text = smallText(configuration);
  if (text === undefined || !anyKey.test(text)) return false;
  const named = (parseConfig(configuration, text)?.settings ?? []).flatMap(({ key, value }) =>
    keys.test(key) && typeof value === "string" && value !== "" ? [value] : [],
  );
  return [...startFolders(resolve(configuration))].some((start) =>
    named.some((path) => isOneWay(resolve(start, expanded(path)), folder)),
  );
}

const isOneWay = (a: string, b: string): boolean => liesIn(a, b) || liesIn(b, a);
