/** The tool `validate`: what is wrong with configs. Runs no code of theirs. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { checkAll } from "../validate/check.ts";
import { dumpedRollouts } from "../validate/dumps.ts";
import { checkedJson, uncheckedTexts } from "../validate/json.ts";
import { plainJson } from "./fence.ts";
import { named, parsed, shown } from "./parameters.ts";
import { answer, reads } from "./tool.ts";

const parameters = z.strictObject({
  file: named
    .min(1)
    .describe(
      "A config of Gradus, verl, TRL or OpenRLHF, a folder of them, or a pattern: `runs/**/*.gradus.yaml`.",
    ),
  set: z
    .array(z.string())
    .default([])
    .describe("Values to check it with, as `--set` takes them: `rollout.group=8`."),
});
/** Files that are looked at below a folder. */
const mostFiles = 20_000;

type Wish = z.output<typeof parameters>;

export function addValidate(server: McpServer): void {
  server.registerTool(
    "validate",
    {
      title: "Check a config",
      description:
        "Diagnostics of a training config before anything runs, as `gradus validate --json`: severity, rule, message, key, range (counted from 0) and fixes. No code of the config is run.",
      inputSchema: shown(parameters),
      annotations: reads,
    },
    (wish) => answer("one file, or a smaller folder", () => validate(parsed(parameters, wish))),
  );
}

function validate({ file, set }: Wish): readonly string[] {
  const words = [file];
  const checked = checkAll(words, { set, fix: false, skipOthers: false, most: mostFiles });
  return [plainJson(checkedJson(checked, dumpedRollouts(words, checked), false)), ...uncheckedTexts(checked)];
}
