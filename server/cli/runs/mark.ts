/** `gradus runs mark RUN`: tags, a note, pinned to the top, archived. */
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { runsMark, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { print, printJson } from "../command.ts";
import { findRun, withDaemon } from "./store.ts";

interface MarkOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly tag?: readonly string[];
  readonly untag?: readonly string[];
  readonly note?: string;
  readonly pin?: boolean;
  readonly archive?: boolean;
}

export function markCommand(program: Program): void {
  program
    .command("mark")
    .description(
      "tag a run, write a note, pin it to the top or archive it; without options print what is marked",
    )
    .argument("<run>", "its id, a prefix of the id, its name, or `last`")
    .option("--tag <tag...>", "add tags")
    .option("--untag <tag...>", "remove tags")
    .option("--note <text>", "its note; an empty one removes it")
    .option("--pin", "keep it at the top")
    .option("--no-pin", "do not")
    .option("--archive", "leave it out of lists")
    .option("--no-archive", "put it back")
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((word: string, options: MarkOptions) =>
      withDaemon(options.store, async (connection) =>
        mark(connection, await findRun(connection, word), options),
      ),
    );
}

async function mark(
  connection: Requester,
  { id, tags = [] }: RunSummary,
  { json, tag = [], untag = [], note, pin, archive }: MarkOptions,
): Promise<void> {
  const marks = await ask(connection, runsMark, {
    run: id,
    tags: [...tags.filter((one) => !untag.includes(one)), ...tag],
    ...(note === undefined ? {} : { note }),
    ...(pin === undefined ? {} : { pinned: pin }),
    ...(archive === undefined ? {} : { archived: archive }),
  });
  if (json === true) return printJson({ run: id, ...marks });
  const words = [
    ...(marks.pinned ? ["pinned"] : []),
    ...(marks.archived ? ["archived"] : []),
    ...marks.tags.map((one) => `#${one}`),
    ...(marks.note === "" ? [] : [marks.note]),
  ];
  print(`${id}: ${words.length === 0 ? "nothing is marked" : words.join(", ")}`);
}
