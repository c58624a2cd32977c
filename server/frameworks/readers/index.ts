/** Reads whatever form a configuration is written in. */
import { extname } from "node:path";
import { readPython } from "./pythonReader.ts";
import { mayBeFrameworkConfig } from "./recognise.ts";
import { readLaunch } from "./scriptReader.ts";
import type { OwnerOf, ParsedConfig } from "./parsedConfig.ts";
import { readYaml } from "./yamlReader.ts";

/**
 * undefined if the text is not a configuration of verl, TRL or OpenRLHF. The file's ending only selects the readers.
 * @param text of a notebook, the module of its cells
 * @param owner determines the framework by the keys; default: by programs and by keys that only one framework has
 */
export function parseConfig(file: string, text: string, owner?: OwnerOf): ParsedConfig | undefined {
  if (owner === undefined && !mayBeFrameworkConfig(text)) return undefined;
  const plain = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  switch (extname(file)) {
    case ".yaml":
    case ".yml":
      return readYaml(file, plain, owner);
    case ".py":
    case ".ipynb":
      return readPython(file, plain);
    case ".sh":
    case ".bash":
    case ".slurm":
    case ".sbatch":
    case ".txt":
      return readLaunch(file, plain, owner);
    default:
      return readYaml(file, plain, owner) ?? readPython(file, plain) ?? readLaunch(file, plain, owner);
  }
}
