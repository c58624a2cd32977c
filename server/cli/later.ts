import { UserError } from "../../shared/errors.ts";
import type { Command } from "./command.ts";

/** A command that this version does not have: said aloud, rather than "unknown command". */
export const command: Command = {
  name: "later",
  configure: (program) => {
    program
      .allowUnknownOption()
      .argument("[words...]")
      .action(() => {
        throw new UserError(`\`gradus ${program.name()}\` arrives in a later version.`, {
          action: "See `gradus --help` for what there is.",
        });
      });
  },
};
