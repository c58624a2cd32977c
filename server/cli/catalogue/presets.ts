import { paperReference } from "../../config/papers.ts";
import { listPresets, presetNamed } from "../../config/presets.ts";
import { print, printJson, type Command } from "../command.ts";
import { knownPreset } from "../init.ts";
import { presetConfig } from "../text/presetConfig.ts";

export const command: Command = {
  name: "presets",
  configure: (program) => {
    program
      .argument("[preset]", "one preset: a commented config that extends it", knownPreset)
      .option("--json", "one JSON list; of one preset its config")
      .action((id: string | undefined, { json }: { json?: boolean }) => {
        const preset = id === undefined ? undefined : presetNamed(id);
        if (preset === undefined) return list(json === true);
        const config = presetConfig(preset);
        if (json === true) printJson({ preset: preset.id, config });
        else print(config.trimEnd());
      });
  },
};

function list(json: boolean): void {
  const presets = listPresets();
  if (json)
    return printJson(
      presets.map(({ file: _, papers, ...preset }) => ({
        ...preset,
        papers: papers.map(paperReference),
      })),
    );
  const width = Math.max(...presets.map(({ id }) => id.length));
  for (const { id, title, status } of presets)
    print(`${id.padEnd(width)}  ${title}${status === "exact" ? "" : ` (${status})`}`);
}
