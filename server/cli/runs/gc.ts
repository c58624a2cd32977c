/** `gradus runs gc`: what of a store could go, and with `--delete` goes. */
import { InvalidArgumentError, type Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { formatBytes, plural } from "../../../shared/lib/format.ts";
import { runsGc, type Garbage } from "../../../shared/protocol/protocol.ts";
import { print, printJson } from "../command.ts";
import { whole } from "../options.ts";
import { tableLines } from "../text/table.ts";
import { withDaemon } from "./store.ts";

interface GcOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly olderThan: number;
  readonly keep: number;
  readonly delete?: boolean;
}

const day = 86_400;

function days(text: string): number {
  const [, count, unit = "d"] = /^(\d+)\s*(h|d|w)?$/.exec(text.trim()) ?? [];
  if (count === undefined) throw new InvalidArgumentError("Write a time such as 30d, 12h or 8w.");
  return Number(count) * { h: day / 24, d: day, w: 7 * day }[unit as "h" | "d" | "w"];
}

export function gcCommand(program: Program): void {
  program
    .command("gc")
    .description(
      "list what could be deleted: checkpoints that later ones replace, archived runs that ended long ago, unfinished checkpoints; pinned and live runs keep all",
    )
    .option("--delete", "delete it; without this nothing is changed")
    .option("--older-than <time>", "archived runs that ended before that, e.g. 8w", days, 30 * day)
    .option("--keep <n>", "newest checkpoints of each run that stay, besides its best", whole(1), 1)
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((options: GcOptions) => withDaemon(options.store, (connection) => collect(connection, options)));
}

async function collect(connection: Requester, options: GcOptions): Promise<void> {
  const { json, olderThan, keep } = options;
  const remove = options.delete === true;
  const answer = await ask(connection, runsGc, { olderThan, keep, delete: remove });
  if (json === true) return printJson(answer);
  const { garbage } = answer;
  if (garbage.length === 0) return print("Nothing to delete.");
  print(
    tableLines([{ head: "RUN" }, { head: "WHAT" }, { head: "FREES", align: "right" }], garbage.map(row)).join(
      "\n",
    ),
  );
  const bytes = formatBytes(garbage.reduce((sum, one) => sum + one.bytes, 0));
  print(
    remove
      ? `Deleted ${plural(garbage.length, "item")}, ${bytes}.`
      : `${plural(garbage.length, "item")}, ${bytes}. Nothing was deleted: gradus runs gc --delete does it.`,
  );
}

const row = ({ kind, run, step, bytes }: Garbage): readonly string[] => [
  run,
  kind === "run" ? "the archived run" : kind === "draft" ? "an unfinished checkpoint" : `checkpoint ${step}`,
  formatBytes(bytes),
];
