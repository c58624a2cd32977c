import { InvalidArgumentError } from "commander";
import { colours as pc } from "./text/colours.ts";
import { paramsSchema } from "../config/grammar/jsonSchema.ts";
import { nearest } from "../lib/suggest.ts";
import { methods } from "../methods/index.ts";
import { print, printJson, type Command } from "./command.ts";

export const command: Command = {
  name: "methods",
  configure: (program) => {
    program
      .argument("[slot]", "only the methods of one slot", knownSlot)
      .option("--json", "one JSON list")
      .action((slot: string | undefined, { json }: { json?: boolean }) => {
        const shown = methods.filter((method) => slot === undefined || method.slot === slot);
        if (json === true) printJson(shown.map(plain));
        else for (const name of new Set(shown.map((method) => method.slot))) printSlot(name, shown);
      });
  },
};

function knownSlot(slot: string): string {
  const slots = [...new Set(methods.map((method) => method.slot))];
  if (slots.some((name) => name === slot)) return slot;
  const meant = nearest(slot, slots);
  throw new InvalidArgumentError(
    `${meant === undefined ? "" : `Did you mean \`${meant}\`? `}Slots: ${slots.join(", ")}.`,
  );
}

const plain = (method: (typeof methods)[number]): Readonly<Record<string, unknown>> => ({
  slot: method.slot,
  name: method.name,
  summary: method.summary,
  formula: method.formula ?? null,
  sources: method.sources,
  aliases: method.aliases ?? [],
  status: method.status ?? "exact",
  params: paramsSchema(method),
});

function printSlot(slot: string, shown: typeof methods): void {
  print(pc.bold(slot));
  for (const method of shown)
    if (method.slot === slot) print(`  ${method.name.padEnd(20)} ${method.summary}`);
}
