/** `gradus runs sweep [NAME|FILE]`: one table of a sweep's runs, the best combination first. */
import { statSync } from "node:fs";
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { runsList, runsShow, type RunSummary } from "../../../../shared/protocol/protocol.ts";
import { needs } from "../../../config/needs.ts";
import { sweepTag } from "../../../analysis/sweep/plan.ts";
import { betterWay } from "../../../core/blocks/checkpoint.ts";
import { loadConfig } from "../../../rules/load.ts";
import { complain, exit, print, printJson } from "../../command.ts";
import { whole } from "../../options.ts";
import { planOf } from "../../sweep/planOf.ts";
import { recordedRuns } from "../../sweep/recorded.ts";
import { sweepTable, type KnownSweep } from "../../sweep/table.ts";
import { sweepTableLines } from "../../sweep/tableText.ts";
import { collect, complainAbout } from "../../text/diagnostics.ts";
import { storeOf, withDaemon } from "../store.ts";

interface SweepOptions {
  readonly set: readonly string[];
  readonly steps?: number;
  readonly store?: string;
  readonly json?: boolean;
}

export function sweepCommand(program: Program): void {
  program
    .command("sweep")
    .description("one table of a sweep: a row a combination of values, its mean over the seeds, best first")
    .argument("[sweep]", "a config with `sweep`, or a sweep's name or id; default: the latest")
    .option("--set <path=value>", "with a config: as it was run", collect, [])
    .option("--steps <n>", "with a config: as it was run", whole(1))
    .option("--store <folder>", "the store, or a folder in its workspace; default: the file's")
    .option("--json", "one JSON value")
    .action(async (word: string | undefined, options: SweepOptions) => {
      const isFile = word !== undefined && statSync(word, { throwIfNoEntry: false })?.isFile() === true;
      const planned = isFile ? ofFile(word, options) : undefined;
      if (isFile && planned === undefined) return;
      await withDaemon(storeOf(options.store, isFile ? word : undefined), async (connection) =>
        show(connection, planned ?? (await named(connection, word)), options),
      );
    });
}

async function show(connection: Requester, known: KnownSweep, { json }: SweepOptions): Promise<void> {
  const { sweep } = known;
  const keys = sweep.parameters.map(({ key }) => key);
  const recorded = await recordedRuns(connection, sweepTag(known.id), { keys, metric: sweep.metric });
  const table = sweepTable(known, recorded);
  if (json === true) printJson(table);
  else print(sweepTableLines(table).join("\n"));
}

/** undefined: it has errors, which are printed. @throws UserError where it has no sweep */
function ofFile(file: string, { set, steps }: SweepOptions): KnownSweep | undefined {
  const options = { set, ...(steps === undefined ? {} : { steps }) };
  const { config, diagnostics } = loadConfig(file, options);
  if (complainAbout(diagnostics) || config === undefined) {
    process.exitCode = exit.failed;
    return undefined;
  }
  const plan = planOf(config, options);
  if (plan !== undefined) return plan;
  throw new UserError(`${file} has no \`sweep\`.`, {
    file,
    code: "usage",
    action: "Compare its runs: gradus runs compare --where 'file ~ \"NAME\"'",
  });
}

const mostRuns = 100_000;
const tagged = ({ tags = [] }: RunSummary): string | undefined =>
  tags.find((tag) => tag.startsWith(sweepTag("")))?.slice(sweepTag("").length);

/** `lr-8d3224` is one of `lr`. */
const nameOf = (id: string): string => id.replace(/-[0-9a-f]{6}$/, "");

/** By what its runs keep: the config as it was when the latest of them began. */
async function named(connection: Requester, word: string | undefined): Promise<KnownSweep> {
  const { runs } = await ask(connection, runsList, { limit: mostRuns });
  const all = runs.flatMap((run) => {
    const id = tagged(run);
    return id === undefined ? [] : [{ id, run }];
  });
  const found = word === undefined ? all : all.filter(({ id }) => id === word || nameOf(id) === word);
  const latest = found[0];
  if (latest === undefined) throw noSweep(word, [...new Set(all.map(({ id }) => id))]);
  const others = [...new Set(found.map(({ id }) => id))].slice(1);
  if (word !== undefined && others.length > 0)
    complain(`The latest sweep ${word}; there are ${others.length} more: ${others.slice(0, 5).join(", ")}`);
  return { ...(await keptSweep(connection, latest.run)), id: latest.id };
}

async function keptSweep(connection: Requester, { id }: RunSummary): Promise<Omit<KnownSweep, "id">> {
  const { file, authored } = await ask(connection, runsShow, { run: id });
  const { ask: compute } = loadConfig(file, { text: authored, needs: needs.written, trials: "none" });
  const sweep = compute((config) => config.sweep);
  if (sweep !== undefined) return { file, sweep, better: betterWay(sweep.metric) };
  throw new UserError(`The config that run ${id} kept has no \`sweep\` that can be read.`, {
    file,
    code: "usage",
    action: "Name the config instead: gradus runs sweep FILE",
  });
}

function noSweep(word: string | undefined, ids: readonly string[]): UserError {
  const known = ids.length === 0 ? "" : ` There are: ${ids.slice(0, 5).join(", ")}.`;
  return new UserError(
    word === undefined
      ? "There is no sweep in this store."
      : `There is no sweep ${word} in this store.${known}`,
    { code: "usage", action: "Add `sweep` to a config, then: gradus run FILE" },
  );
}
