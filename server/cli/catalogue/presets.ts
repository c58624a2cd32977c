import { paperReference } from "../../config/papers.ts";
import { listPresets } from "../../config/presets.ts";
import { print, printJson, type Command } from "../command.ts";

export const command: Command = {
  name: "presets",
  configure: (program) => {
    program.option("--json", "one JSON list").action(({ json }: { json?: boolean }) => {
      const presets = listPresets();
      if (json === true)
        printJson(
          presets.map(({ file: _, papers, ...preset }) => ({
            ...preset,
            papers: papers.map(paperReference),
          })),
        );
      else
        for (const { id, title, status } of presets)
          print(
            `${id.padEnd(Math.max(...presets.map((preset) => preset.id.length)))}  ${title}${status === "exact" ? "" : ` (${status})`}`,
          );
    });
  },
};
