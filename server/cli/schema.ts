import { configSchema } from "../config/jsonSchema.ts";
import { print, printJson, type Command } from "./command.ts";

export const command: Command = {
  name: "schema",
  configure: (program) => {
    program.option("--json", "on one line").action(({ json }: { json?: boolean }) => {
      if (json === true) printJson(configSchema());
      else print(JSON.stringify(configSchema(), null, 2));
    });
  },
};
