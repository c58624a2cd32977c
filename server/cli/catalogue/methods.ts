import { InvalidArgumentError } from "commander";
import type { SlotName } from "../../core/declaration.ts";
import { slotPageOf } from "../reference/methods.ts";
import { colours as pc } from "../text/colours.ts";
import { paramsSchema } from "../../config/grammar/jsonSchema.ts";
import { nearest } from "../../lib/suggest.ts";
import { methods } from "../../methods/index.ts";
import { print, printJson, type Command } from "../command.ts";

export const command: Command = {
  name: "methods",
  configure: (program) => {
    program
      .argument("[slot]", "one slot: its methods with formulas, parameters and sources", knownSlot)
      .option("--json", "one JSON list")
      .action((slot: SlotName | undefined, { json }: { json?: boolean }) => {
        if (json === true)
          printJson(methods.filter((method) => slot === undefined || method.slot === slot).map(plain));
        else if (slot !== undefined) print(slotPageOf(slot));
        else for (const name of slots()) printSlot(name);
      });
  },
};

const slots = (): readonly SlotName[] => [...new Set(methods.map(({ slot }) => slot))];

function knownSlot(word: string): SlotName {
  const known = slots();
  const found = known.find((name) => name === word);
  if (found !== undefined) return found;
  const meant = nearest(word, known);
  throw new InvalidArgumentError(
    `${meant === undefined ? "" : `Did you mean \`${meant}\`? `}Slots: ${known.join(", ")}.`,
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

function printSlot(slot: SlotName): void {
  print(pc.bold(slot));
  for (const method of methods)
    if (method.slot === slot) print(`  ${method.name.padEnd(20)} ${method.summary}`);
}
