/** Reads whatever form a configuration is written in. */
import { extname } from "node:path";
import { readPython } from "./pythonReader.ts";
import { mayBeForeign } from "./recognise.ts";
import { readLaunch } from "./scriptReader.ts";
import type { Written } from "./written.ts";
import { readYaml } from "./yamlReader.ts";

/** undefined where the text is no configuration of verl, TRL or OpenRLHF. The ending only says what is tried. */
export function readWritten(file: string, text: string): Written | undefined {
  if (!mayBeForeign(text)) return undefined;
  const plain = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  switch (extname(file)) {
    case ".yaml":
    case ".yml":
      return readYaml(file, plain);
    case ".py":
      return readPython(file, plain);
    case ".sh":
    case ".bash":
    case ".slurm":
    case ".sbatch":
    case ".txt":
      return readLaunch(file, plain);
    default:
      return readYaml(file, plain) ?? readPython(file, plain) ?? readLaunch(file, plain);
  }
}
