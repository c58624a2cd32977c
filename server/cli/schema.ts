import { configSchema } from "../config/jsonSchema.ts";
import { printExactly, printJson, type Command } from "./command.ts";

export const command: Command = {
  name: "schema",
  configure: (program) => {
    program.option("--json", "on one line").action(({ json }: { json?: boolean }) => {
      if (json === true) printJson(configSchema());
      else printExactly(JSON.stringify(configSchema(), null, 2));
    });
  },
};
