import type { Command as Program } from "commander";
import type { Command } from "../command.ts";

/** Loaded when called, as the commands of `gradus` are: a list of runs needs no method, no engine and no trainer's config. */
const commands: Readonly<Record<string, (program: Program) => Promise<void>>> = {
  list: async (program) => (await import("./list.ts")).listCommand(program),
  compare: async (program) => (await import("./comparing/compare.ts")).compareCommand(program),
  diff: async (program) => (await import("./diff/index.ts")).diffCommand(program),
  forecast: async (program) => (await import("./comparing/forecast.ts")).forecastCommand(program),
  turnover: async (program) => (await import("./comparing/turnover.ts")).turnoverCommand(program),
  sweep: async (program) => (await import("./comparing/sweep.ts")).sweepCommand(program),
  fork: async (program) => (await import("./fork.ts")).forkCommand(program),
  check: async (program) => (await import("./checking/index.ts")).checkCommand(program),
  gc: async (program) => (await import("./gc.ts")).gcCommand(program),
  mark: async (program) => (await import("./mark.ts")).markCommand(program),
  show: async (program) => (await import("./show.ts")).showCommand(program),
  follow: async (program) => (await import("./followHere.ts")).followCommand(program),
  stop: async (program) => (await import("./control.ts")).controls.stop(program),
  pause: async (program) => (await import("./control.ts")).controls.pause(program),
  continue: async (program) => (await import("./control.ts")).controls.continue(program),
  checkpoint: async (program) => (await import("./control.ts")).controls.checkpoint(program),
  set: async (program) => (await import("./setValue.ts")).setCommand(program),
  resume: async (program) => (await import("./control.ts")).controls.resume(program),
  delete: async (program) => (await import("./control.ts")).controls.delete(program),
  export: async (program) => (await import("./exporting/exportCommand.ts")).exportCommand(program),
  import: async (program) => (await import("./importRuns.ts")).importCommand(program),
};

/** Without a command it is `list`. Help, and a word that is no command, are about all of them. */
function wanted([first = "list"]: readonly string[]): readonly string[] {
  return Object.hasOwn(commands, first) ? [first] : Object.keys(commands);
}

export const command: Command = {
  name: "runs",
  configure: async (program, words) => {
    for (const name of wanted(words)) await commands[name]?.(program);
  },
};
