import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { printExactly, type Command } from "../command.ts";
import { programPath } from "../runs/store.ts";

/** The build writes it next to the program, which is quicker to read than the schema is to make; the build itself has none yet. */
async function schemaText(): Promise<string> {
  const built = join(dirname(programPath()), "gradus.schema.json");
  if (existsSync(built)) return readFileSync(built, "utf8").trimEnd();
  const { configSchema } = await import("../../config/grammar/jsonSchema.ts");
  return JSON.stringify(configSchema());
}

export const command: Command = {
  name: "schema",
  configure: (program) => {
    program.option("--json", "on one line").action(async ({ json }: { json?: boolean }) => {
      const text = await schemaText();
      printExactly(json === true ? text : JSON.stringify(JSON.parse(text), null, 2));
    });
  },
};
